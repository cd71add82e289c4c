"""Which checkpoint a person means: its path, its run and step, or the digest that names it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

from aifactory.errors import FactoryError
from aifactory.launch.runs.names import RUN_NAME
from aifactory.launch.runs.summary import find_run, get_run, runs_directories
from aifactory.namespace import Namespace

STEP = re.compile(r"step-\d{8}")
FILE = "checkpoint.json"
OF_RUN = re.compile(r"([a-z][-a-z0-9]{0,39})/(?:step-)?(\d{1,8})")
DIGEST = re.compile(r"[0-9a-f]{8,64}")
FORMS = "/factory/<class>/runs/<run>/checkpoints/step-<8 digits>, <run>/<step>, or 8 digits or more of its digest"


def find_checkpoint(name: str, ns: Namespace) -> str:
    """The canonical path of the checkpoint that `name` names: a path (nothing has to stand there), `<run>/<step>`, or
    at least 8 digits of its digest.

    Raises FactoryError: "unknown_run"; "unknown_checkpoint" with the steps that the run has, or for a digest that none
    or several have; "checkpoint" for what has none of these forms; "escape" for a path that leaves the namespace.
    """
    if named := OF_RUN.fullmatch(name):
        return ns.canonical(_of_run(get_run(ns, named[1]), int(named[2])))
    if DIGEST.fullmatch(name):
        return ns.canonical(_of_digest(name, ns))
    if name.startswith(("/", "public/", "private/")):
        return ns.canonical(ns.local(name))
    if RUN_NAME.fullmatch(name) and (run := find_run(ns, name)) is not None:
        raise _no_step(run, f"{name} is a run, not one of its checkpoints")
    raise FactoryError(
        f"{name!r} names no checkpoint",
        found=name,
        expected=FORMS,
        fix="`aifactory runs <run>` lists a run's checkpoints",
        code="checkpoint",
    )


def names_checkpoint(text: str) -> bool:
    """Whether this has the form of a checkpoint's path, or of `<run>/<step>`."""
    path = text.rstrip("/").rpartition("/checkpoints/")
    return bool(OF_RUN.fullmatch(text)) or (bool(path[1]) and STEP.fullmatch(path[2]) is not None)


def step_of(place: str) -> int | None:
    """The step that the path of a checkpoint ends in; None for another path."""
    name = place.rpartition("/")[2]
    return int(name.removeprefix("step-")) if STEP.fullmatch(name) else None


def saved_in(run: Path) -> list[Path]:
    """The checkpoints of the run in this directory, by step."""
    return sorted(path for path in (run / "checkpoints").glob("step-*") if STEP.fullmatch(path.name))


def _of_run(run: Path, step: int) -> Path:
    place = run / "checkpoints" / f"step-{step:08d}"
    if place.is_dir():
        return place
    raise _no_step(run, f"the run {run.name} has no checkpoint of step {step}")


def _no_step(run: Path, what: str) -> FactoryError:
    known = [str(int(path.name[5:])) for path in saved_in(run)]
    return FactoryError(
        what,
        found=f"{len(known)} checkpoints",
        expected=f"one of the steps {', '.join(known)}" if known else "a run that saved one",
        fix=f"name one of them, such as {run.name}/{known[-1]}" if known else "`aifactory runs` lists the runs",
        code="unknown_checkpoint",
    )


def _of_digest(digits: str, ns: Namespace) -> Path:
    found = {digest: place for digest, place in _digests(ns) if digest.startswith(digits)}
    if len(found) == 1:
        return next(iter(found.values()))
    raise FactoryError(
        f"{len(found) or 'no'} checkpoints have the digest {digits}",
        found=", ".join(f"{place.parents[1].name}/{place.name}" for place in found.values()) or digits,
        expected="8 digits or more of one checkpoint's digest",
        fix="name more digits" if found else "`aifactory runs <run>` lists a run's checkpoints",
        code="unknown_checkpoint",
    )


def _digests(ns: Namespace) -> Iterator[tuple[str, Path]]:
    for directory in runs_directories(ns):
        for run in sorted(directory.glob("*/checkpoints")):
            for place in saved_in(run.parent):
                try:
                    yield str(json.loads((place / FILE).read_bytes())["digest"]), place
                except (OSError, ValueError, KeyError, TypeError):
                    continue  # half written, or damaged: nothing says which it is
