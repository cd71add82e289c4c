"""Resolving a target: every default filled in, every key a version, the image a digest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import cast

from aifactory.datasets import Stage, build_config, check_config
from aifactory.datasets.config import SNAPSHOT
from aifactory.errors import FactoryError
from aifactory.launch.checkpoints.checkpoint import Trained, is_line, model_description, trained
from aifactory.launch.checkpoints.checkpoint import checkpoint_digest as checkpoint_digest
from aifactory.launch.plans.inputs import Resolver
from aifactory.launch.plans.line import promoted_or_refused
from aifactory.launch.plans.pins import NONE, Pins
from aifactory.launch.plans.restricted import with_zone
from aifactory.launch.plans.resuming import resumed_input
from aifactory.namespace import Namespace, Publications
from aifactory.project import Project
from aifactory.spec import Evaluate, InputRef, Part, Recipe, RunSpec
from aifactory.spec.input_ref import InputKind

JOURNAL = "@journal"


@dataclass(frozen=True)
class Resolved:
    """A spec and what its context knows from the target; `label` names the run."""

    spec: RunSpec
    label: str
    context: dict[str, object] = field(default_factory=dict)


def resolve_recipe(
    recipe: Recipe,
    overrides: Sequence[str] | Mapping[str, object],
    ns: Namespace,
    project: Project,
    pins: Pins = NONE,
) -> Resolved:
    """A training: the mix's current versions (train part), the tokenizer that made them, its vocabulary in the model.

    The suites, with their versions, go to the context: each checkpoint's evaluation uses these.
    """
    config = recipe.build(overrides)
    if pins.resume is not None and config.start is not None:
        config = config.evolve({"start": None})  # the weights of step 0 are behind it
    resolver = Resolver(ns, f"recipe {recipe.name}", pins)
    data = [resolver.current("mix", "dataset", key, "train") for key in config.mix.keys]
    suites = [resolver.suite(key) for key in recipe.suites]
    start = resolver.start(config.start) if config.start is not None else None
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
    resolver.agrees(tokenizer)
    first = [] if start is None else [start.ref.key]
    read = [*config.mix.keys, *recipe.suites, *first, tokenizer.key]
    pins.check(resolver.reader, read, needed=[*config.mix.keys, *first])
    config = config.resolved(resolver.vocabulary(tokenizer))
    if pins.resume is not None:
        start = replace(pins.resume, ref=resumed_input(pins.resume, config, known))
    if start is not None:
        _same_tokenizer(start, tokenizer, ns)
    spec = RunSpec(
        kind="train",
        config=config,
        inputs=(*known, tokenizer) if start is None else (*known, tokenizer, start.ref),
        image=pins.image_ref(project, "train"),
    )
    return Resolved(
        spec,
        recipe.name,
        {
            "recipe": recipe.name,
            "line": recipe.line,
            "baseline": recipe.baseline,
            "suites": tuple(ref for ref in suites if ref is not None),
            "places": {} if start is None else {start.ref.role: start.place},
        },
    )


def _same_tokenizer(start: Trained, tokenizer: InputRef, ns: Namespace) -> None:
    theirs = InputRef.model_validate(model_description(ns.local(start.place))["tokenizer"])
    if theirs.version != tokenizer.version:
        raise FactoryError(
            f"{start.ref.name} was trained with another tokenizer than the data of the mix",
            found=theirs.name,
            expected=tokenizer.name,
            fix=f"pin data that {theirs.name} made, or start from a model of this tokenizer",
            code="tokenizer",
        )


def resolve_stage(stage: Stage, ns: Namespace, project: Project, pins: Pins = NONE) -> Resolved:
    """A build of the stage's key from the pinned or current versions of its inputs; a crossing's from what stands in
    the restricted zone now.

    The context keeps, under places["@journal"], the number of the key's journal that this build starts from.
    """
    config = build_config(stage)
    pins.no_resume(config.key)
    resolver = Resolver(ns, config.key, pins)
    read = [edge.key for edge in stage.edges]
    pins.check(config.key, read, needed=read)
    refs = [resolver.current(edge.role, _kind(edge.kind), edge.key, _part(edge.part)) for edge in stage.edges]
    resolver.check()
    if stage.factory == "crossing":
        config = with_zone(config, project)
    spec = RunSpec(
        kind="build",
        config=config,
        inputs=tuple(ref for ref in refs if ref is not None),
        image=pins.image_ref(project, stage.image),
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
    spec = RunSpec(kind="build", config=config, inputs=inputs, image=NONE.image_ref(project, stage.image))
    return Resolved(spec, config.key.split("/", 1)[1], {"places": started_from(config.key, ns)})


def started_from(key: str, ns: Namespace) -> dict[str, str]:
    """What a build's context keeps of the journal it starts from: a publication after this number may beat it."""
    return {JOURNAL: str(Publications(ns, key).number())}


def resolve_evaluation(target: str, ns: Namespace, project: Project, pins: Pins = NONE) -> Resolved:
    """An evaluation of one checkpoint, or of a promoted model, on the suites that its training's resolution fixed,
    pinned ones apart.

    Raises GateRefused for a line without a snapshot. Raises FactoryError: "checkpoint" for what is no whole checkpoint
    of a run, "unknown_target" and "version" for a line, "no_suites" where the recipe names none.
    """
    if is_line(target):
        promoted_or_refused(target.partition("@")[0], ns, project)
    found = trained(target, ns)
    context = found.context
    if not context.suites:
        raise FactoryError(
            f"the training {found.run} names no suites to evaluate its checkpoints on",
            found=f"line {context.line}, no suites",
            fix="name suites in the recipe: @recipe(line=..., suites=[...]), and train again",
            code="no_suites",
        )
    keys = [ref.key for ref in context.suites]
    pins.no_resume(f"the evaluation of {target}")
    pins.check(f"the evaluation of {target}", keys, needed=keys)
    suites = tuple(ref.evolve({"version": pins.version(ref.key) or ref.version}) for ref in context.suites)
    config = found.spec.train
    spec = RunSpec(
        kind="evaluate",
        config=Evaluate(suites=tuple(keys), seed=config.seed, threads=config.threads),
        inputs=(found.ref, *found.spec.inputs_of("tokenizer"), *suites),
        image=pins.image_ref(project, "train"),
    )
    label = f"{context.recipe or found.ref.key.rpartition('/')[2]}-{found.step}"
    return Resolved(
        spec,
        label,
        {
            "recipe": context.recipe,
            "line": context.line,
            "baseline": context.baseline,
            "suites": suites,
            "parent_run": found.run,
            "places": {found.ref.role: found.place},
        },
    )


def _kind(kind: str) -> InputKind:
    return "tokenizer" if kind == "tokenizer" else "dataset"


def _part(part: str | None) -> Part | None:
    return cast(Part | None, part)
