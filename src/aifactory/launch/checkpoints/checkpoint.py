"""Checkpoints and promoted models as inputs: what names them, where they are, and what trained them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aifactory.errors import FactoryError
from aifactory.launch.checkpoints.saved import FILE, STEP, find_checkpoint, step_of
from aifactory.launch.runs.summary import find_run
from aifactory.namespace import Key, Namespace, Promoted, Publication, Publications
from aifactory.spec import Context, InputRef, RunSpec, load_frozen
from aifactory.store import digest

MODEL_FILE = "model.json"


@dataclass(frozen=True)
class Trained:
    """A checkpoint (its `ref` has the kind and the role "checkpoint") or a version of a line ("model"); `place` is its
    canonical path, `run`, `spec` and `context` are those of its training."""

    ref: InputRef
    place: str
    step: int
    run: str
    spec: RunSpec
    context: Context


def trained(name: str, ns: Namespace) -> Trained:
    """What `name` names: a checkpoint of a run (its path, `<run>/<step>`, its digest), or a line
    (`public/models/tiny`, `...@version`).

    Raises FactoryError: "checkpoint" for what is no whole checkpoint of a training, or whose record was altered;
    "unknown_run" and "unknown_checkpoint"; "unpublished" and "version" for a line.
    """
    name = ns.short(name)
    return _promoted(name, ns) if is_line(name) else _of_run(name, ns)


def is_line(name: str) -> bool:
    """Whether this names a line, or a version of one."""
    try:
        return Key(name.partition("@")[0]).is_line
    except FactoryError:
        return False


def checkpoint_record(place: Path) -> dict[str, Any]:
    """The content of its `checkpoint.json`, and under "digest" what names it: 64 hex digits over that content.

    Raises FactoryError, code "checkpoint", for a record that is torn or altered.
    """
    file = place / FILE
    try:
        record = json.loads(file.read_bytes())
        claimed, content = record["digest"], dict(record["content"])
        found = digest(content)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise FactoryError(f"{file} is torn or no record of a checkpoint", found=error, code="checkpoint") from error
    if claimed != found:
        raise FactoryError(
            f"{file} was altered",
            found=found,
            expected=claimed,
            fix="restore the checkpoint from a copy, or train again",
            code="checkpoint",
        )
    return {**content, "digest": found}


def checkpoint_digest(place: Path) -> str:
    """What names a checkpoint: 64 hex digits. Raises FactoryError as `checkpoint_record` does."""
    return str(checkpoint_record(place)["digest"])


def model_description(place: Path) -> dict[str, Any]:
    """What the checkpoint in `place` says of its model: {gpt, precision, tokenizer}.

    Raises FactoryError, code "checkpoint", for one that says nothing.
    """
    file = place / MODEL_FILE
    try:
        return dict(json.loads(file.read_bytes()))
    except (OSError, ValueError, TypeError) as error:
        raise FactoryError(
            f"{file} describes no model", found=error, fix="use another checkpoint", code="checkpoint"
        ) from error


def step_at(place: str, ns: Namespace) -> int | None:
    """The step of what stands at this canonical path, a checkpoint or a promoted model; None where nothing says it."""
    step = step_of(place)
    if step is not None or not place:
        return step
    try:
        return int(checkpoint_record(ns.local(place))["step"])
    except (FactoryError, KeyError, ValueError):
        return None


def _of_run(name: str, ns: Namespace) -> Trained:
    place = ns.local(find_checkpoint(name, ns))
    run = place.parent.parent
    if not STEP.fullmatch(place.name) or place.parent.name != "checkpoints" or not (place / FILE).is_file():
        raise _no_checkpoint(name, place)
    spec, context = RunSpec.load(run / "spec.json"), Context.load(run / "context.json")
    if context.line is None or spec.kind != "train":
        raise _no_checkpoint(name, f"a run of kind {spec.kind} with the line {context.line}")
    record = checkpoint_record(place)
    ref = InputRef(role="checkpoint", kind="checkpoint", key=context.line, version=record["digest"])
    return Trained(ref, ns.canonical(place), int(record["step"]), run.name, spec, context)


def _promoted(name: str, ns: Namespace) -> Trained:
    snapshot = ns.resolve(name)
    publication, made = promotion(ns, snapshot.key, snapshot.version)
    directory = find_run(ns, publication.run)
    if directory is not None:
        spec, context = RunSpec.load(directory / "spec.json", made.spec), Context.load(directory / "context.json")
    else:
        frozen = load_frozen(ns, made.spec)
        known = {field: value for field, value in frozen.resolution.items() if field in Context.model_fields}
        spec, context = frozen.spec, Context.model_validate(known)
    ref = InputRef(role="model", kind="model", key=str(snapshot.key), version=snapshot.version)
    return Trained(ref, snapshot.canonical, made.step, publication.run, spec, context)


def promotion(ns: Namespace, line: str, version: str) -> tuple[Publication, Promoted]:
    """The newest publication of this version (64 digits) of a line, and the checkpoint that it is.

    Raises FactoryError, code "checkpoint", for one that no promotion made.
    """
    for publication in reversed(Publications(ns, line).of(version)):
        if publication.checkpoint is not None:
            return publication, publication.checkpoint
    raise FactoryError(
        f"{line}@{version[:16]} was published by something else than a promotion",
        found="a publication that names no checkpoint",
        fix=f"name one of `aifactory versions {line}`, or promote a checkpoint of the line",
        code="checkpoint",
    )


def _no_checkpoint(name: str, found: object) -> FactoryError:
    return FactoryError(
        f"{name} is no checkpoint of a training",
        found=found,
        expected=f"/factory/<class>/runs/<run>/checkpoints/step-<8 digits> with its {FILE}",
        fix="take the path from the checkpoint's event, or from `aifactory runs <run>`",
        code="checkpoint",
    )
