"""Resolving a target: every default filled in, every key a version, the image a digest."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

from aifactory.datasets import Stage, build_config, check_config
from aifactory.datasets.config import SNAPSHOT
from aifactory.errors import FactoryError
from aifactory.launch.inputs import Resolver
from aifactory.namespace import Namespace, Publications
from aifactory.project import Project
from aifactory.spec import Context, Evaluate, ImageName, ImageRef, InputRef, Part, Recipe, RunSpec, image_digest
from aifactory.spec.input_ref import InputKind
from aifactory.store import digest

CHECKPOINT = "checkpoint"
JOURNAL = "@journal"
CHECKPOINT_FILE = "checkpoint.json"


@dataclass(frozen=True)
class Resolved:
    """A spec and what its context knows from the target; `label` names the run."""

    spec: RunSpec
    label: str
    context: dict[str, object] = field(default_factory=dict)


def resolve_recipe(
    recipe: Recipe, overrides: Sequence[str] | Mapping[str, object], ns: Namespace, project: Project
) -> Resolved:
    """A training: the mix's current versions (train part), the tokenizer that made them, its vocabulary in the model.

    The suites, with their versions, go to the context: each checkpoint's evaluation uses these.
    """
    config = recipe.build(overrides)
    resolver = Resolver(ns, f"recipe {recipe.name}")
    data = [resolver.current("mix", "dataset", key, "train") for key in config.mix.keys]
    suites = [resolver.suite(key) for key in recipe.suites]
    resolver.check()
    known = [ref for ref in data if ref is not None]
    tokenizers = {ref for one in known if (ref := resolver.tokenizer_of(one)) is not None}
    if len(tokenizers) != 1:
        raise FactoryError(
            f"recipe {recipe.name} mixes data of several tokenizers",
            found=", ".join(sorted(ref.name for ref in tokenizers)),
            expected="one tokenizer",
            fix="tokenize every source of the mix with the same one",
            code="tokenizers",
        )
    (tokenizer,) = tokenizers
    spec = RunSpec(
        kind="train",
        config=config.resolved(resolver.vocabulary(tokenizer)),
        inputs=(*known, tokenizer),
        image=image_ref(project, "train"),
    )
    return Resolved(
        spec,
        recipe.name,
        {
            "recipe": recipe.name,
            "line": recipe.line,
            "baseline": recipe.baseline,
            "suites": tuple(ref for ref in suites if ref is not None),
        },
    )


def resolve_stage(stage: Stage, ns: Namespace, project: Project) -> Resolved:
    """A build of the stage's key from the current versions of its inputs.

    The context keeps, under places["@journal"], the number of the key's journal that this build starts from.
    """
    config = build_config(stage)
    resolver = Resolver(ns, config.key)
    refs = [resolver.current(edge.role, _kind(edge.kind), edge.key, _part(edge.part)) for edge in stage.edges]
    resolver.check()
    spec = RunSpec(
        kind="build",
        config=config,
        inputs=tuple(ref for ref in refs if ref is not None),
        image=image_ref(project, "data"),
    )
    label = config.key.split("/", 1)[1]
    return Resolved(spec, label, {"places": started_from(config.key, ns)})


def resolve_checks(
    stage: Stage, names: Sequence[str], version: str | None, ns: Namespace, project: Project
) -> Resolved:
    """A build that only runs these checks, on the current snapshot of the stage's key (or on `version` of it)."""
    config = check_config(stage, names)
    resolver = Resolver(ns, f"the checks of {config.key}")
    if version is None:
        ref = resolver.current(SNAPSHOT, "dataset", config.key)
        resolver.check()
    else:
        ref = InputRef(role=SNAPSHOT, kind="dataset", key=config.key, version=ns.resolve(config.key, version).version)
    inputs = () if ref is None else (ref,)
    spec = RunSpec(kind="build", config=config, inputs=inputs, image=image_ref(project, "data"))
    return Resolved(spec, config.key.split("/", 1)[1], {"places": started_from(config.key, ns)})


def started_from(key: str, ns: Namespace) -> dict[str, str]:
    """What a build's context keeps of the journal it starts from: a publication after this number may beat it."""
    return {JOURNAL: str(Publications(ns, key).number())}


def resolve_evaluation(checkpoint: str, ns: Namespace, project: Project) -> Resolved:
    """An evaluation of one checkpoint on the suites that its training's resolution fixed.

    Raises FactoryError: "checkpoint" for a path that is no whole checkpoint of a run, "no_suites" where the recipe
    names none.
    """
    place = ns.local(checkpoint)
    run = place.parent.parent
    if not (place / CHECKPOINT_FILE).is_file() or place.parent.name != "checkpoints":
        raise FactoryError(
            f"{checkpoint} is no checkpoint of a run",
            found=str(place),
            expected=f"/factory/<class>/runs/<run>/checkpoints/step-<8 digits> with its {CHECKPOINT_FILE}",
            fix="take the path from the checkpoint's event, or from `aifactory runs`",
            code="checkpoint",
        )
    trained, context = RunSpec.load(run / "spec.json"), Context.load(run / "context.json")
    if context.line is None or not context.suites:
        raise FactoryError(
            f"the training {run.name} names no suites to evaluate its checkpoints on",
            found=f"line {context.line}, no suites",
            fix="name suites in the recipe: @recipe(line=..., suites=[...]), and train again",
            code="no_suites",
        )
    version = checkpoint_digest(place)
    spec = RunSpec(
        kind="evaluate",
        config=Evaluate(
            suites=tuple(ref.key for ref in context.suites), seed=trained.train.seed, threads=trained.train.threads
        ),
        inputs=(
            InputRef(role=CHECKPOINT, kind="checkpoint", key=context.line, version=version),
            *trained.inputs_of("tokenizer"),
            *context.suites,
        ),
        image=image_ref(project, "train"),
    )
    label = f"{context.recipe or context.line.rpartition('/')[2]}-{int(place.name.rpartition('-')[2])}"
    return Resolved(
        spec,
        label,
        {
            "recipe": context.recipe,
            "line": context.line,
            "baseline": context.baseline,
            "suites": context.suites,
            "parent_run": run.name,
            "places": {CHECKPOINT: ns.canonical(place)},
        },
    )


def checkpoint_digest(place: Path) -> str:
    """What names a checkpoint: the digest over the content of its `checkpoint.json`, 64 hex digits.

    Raises FactoryError, code "checkpoint", for a record that is torn or altered.
    """
    file = place / CHECKPOINT_FILE
    try:
        record = json.loads(file.read_bytes())
        claimed, found = record["digest"], digest(record["content"])
    except (ValueError, KeyError, TypeError) as error:
        raise FactoryError(f"{file} is torn or no record of a checkpoint", found=error, code="checkpoint") from error
    if claimed != found:
        raise FactoryError(
            f"{file} was altered",
            found=found,
            expected=claimed,
            fix="restore the checkpoint from a copy, or train again",
            code="checkpoint",
        )
    return str(found)


def _kind(kind: str) -> InputKind:
    return "tokenizer" if kind == "tokenizer" else "dataset"


def _part(part: str | None) -> Part | None:
    return cast(Part | None, part)


def image_ref(project: Project, name: ImageName) -> ImageRef:
    """The image that the checkout makes as it stands."""
    return ImageRef(name=name, digest=image_digest(project, name))
