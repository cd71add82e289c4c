"""Plans: a spec frozen before anything is launched, and the context that it will run in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from aifactory.datasets import Stage, find_stages
from aifactory.errors import FactoryError
from aifactory.launch.checkpoints.checkpoint import is_line
from aifactory.launch.checkpoints.saved import names_checkpoint
from aifactory.launch.clusters.registry import close_matches
from aifactory.launch.plans.allowance import allowance
from aifactory.launch.plans.pins import Pins
from aifactory.launch.plans.placing import placed, unknown
from aifactory.launch.plans.resolve import (
    Resolved,
    resolve_checks,
    resolve_evaluation,
    resolve_recipe,
    resolve_stage,
    started_from,
)
from aifactory.launch.plans.smoke import SmokeTarget, resolve_smoke
from aifactory.launch.refusal import GateRefused
from aifactory.launch.runs.summary import find_run
from aifactory.namespace import Namespace, load_grants
from aifactory.project import Project
from aifactory.spec import (
    Context,
    Recipe,
    RunSpec,
    config_schema,
    freeze,
    get_recipe,
    git_facts,
    load_frozen,
)


@dataclass(frozen=True)
class EvaluateTarget:
    """Evaluate this checkpoint (`/factory/.../checkpoints/step-<8 digits>`, `<run>/<step>`, its digest), or what this
    line stands for (`public/models/tiny`, or `...@version`)."""

    checkpoint: str


@dataclass(frozen=True)
class CheckTarget:
    """Run these checks of a stage alone, on its current snapshot or on `version` of it."""

    stage: Stage
    checks: tuple[str, ...]
    version: str | None = None


@dataclass(frozen=True)
class Plan:
    """A frozen spec and its context. `path` is the frozen `spec.json`; `label` names the run (stage, recipe, ...)."""

    spec: RunSpec
    context: Context
    hash: str
    path: Path
    label: str

    @property
    def kind(self) -> str:
        return self.spec.kind

    @property
    def class_root(self) -> Path:
        """Where the run's directory will stand: `runs/` under this."""
        return self.path.parents[2]

    def again(self, *, requester: str, parent_run: str | None, origin: str) -> Plan:
        """The same spec for what it was resolved for then, whatever it has been resolved for since, and asked for in
        the same way; under the grants of today, at the site that its cluster mounts today."""
        project = Project.current()
        site = placed(self.context.cluster, self.context.shape, self.spec, project).get("site")
        today = {"root": str(Namespace.open().root), "grants": load_grants(project), "site": site}
        asked = {"requester": requester, "parent_run": parent_run, "origin": origin}
        return replace(self, context=self.context.evolve({**today, **asked}))


def plan(
    target: Recipe | Stage | CheckTarget | EvaluateTarget | SmokeTarget | str,
    *,
    cluster: str = "local",
    overrides: Sequence[str] | Mapping[str, object] = (),
    queue: str | None = None,
    priority: str | None = None,
    shape: str | None = None,
    requester: str = "",
    parent_run: str | None = None,
    origin: str | None = None,
    deadline_seconds: float | None = None,
    stall_seconds: float | None = None,
    allow: Sequence[str] = (),
    why: str = "",
    pins: Sequence[str] = (),
    inputs_of: str | None = None,
    image: str | None = None,
    resolution: int | None = None,
    resume_from: str | None = None,
    prefetch: bool = False,
    project: Project | None = None,
    ns: Namespace | None = None,
) -> Plan:
    """Resolve the target and freeze its spec. Nothing is launched.

    A recipe trains, a stage builds, a CheckTarget runs checks, an EvaluateTarget scores a checkpoint, a SmokeTarget
    proves an image. A string is the hash of a frozen spec (or at least 8 digits of it), for what it was resolved for
    last, or for its resolution of this number (code "unknown_resolution" lists them); a stage's key, a checkpoint (its
    path or `<run>/<step>`), a line or a version of it, or else a recipe's name. Raises GateRefused for inputs that are
    not built (all of them, code "input_not_built"), FactoryError for a target or an override that is wrong. `shape`
    None: the usual one of the cluster for this kind of run. `allow` names refusals of the gate that are overridden for
    the reason `why`.

    Pins by hand: `pins` name `key@version` for inputs, `inputs_of` a run whose inputs are taken, `image` an older image
    on this machine, `resume_from` a checkpoint that a recipe goes on from, on what its run read. Raises FactoryError:
    "pin", "version", "unpublished", "unknown_run", "unknown_checkpoint", "unknown_image", "resume".
    """
    project = project or Project.current()
    ns = ns or Namespace.of(project)
    asked = {
        "cluster": cluster,
        "queue": queue,
        "priority": priority,
        "shape": shape,
        "requester": requester,
        "parent_run": parent_run,
        "origin": origin,
        "deadline_seconds": deadline_seconds,
        "stall_seconds": stall_seconds,
        "prefetch": prefetch,
        "allow": allowance(allow, why),
        "why": why.strip(),
        "grants": load_grants(project),
    }
    pinned = Pins.of(ns, pins, inputs_of, image, resume_from)
    if isinstance(target, str) and _is_hash(target):
        _no_overrides(target, overrides)
        _no_pins(f"the frozen spec {target[:16]}", pinned)
        return _frozen(target, ns, asked, resolution, project)
    if resolution is not None:
        raise FactoryError(
            "only a frozen spec has resolutions to choose from",
            found=f"resolution {resolution} of {target}",
            fix="name the spec by its hash, or leave the resolution out",
            code="unknown_resolution",
        )
    if isinstance(target, str):
        target = _named(ns.short(target), project)
    try:
        resolved = _resolve(target, overrides, ns, project, pinned)
    except GateRefused as refused:
        raise refused.beside(unknown(project, cluster, queue=queue, priority=priority, shape=shape)) from None
    asked["pins"] = pinned.said(resolved.spec.image)
    asked |= placed(cluster, shape, resolved.spec, project)
    context = _context(resolved.context, asked, ns, project)
    path = freeze(ns, resolved.spec, _resolution(context), grants=context.grants)
    return Plan(resolved.spec, context, resolved.spec.hash, path, resolved.label)


def _resolve(
    target: Recipe | Stage | CheckTarget | EvaluateTarget | SmokeTarget,
    overrides: Sequence[str] | Mapping[str, object],
    ns: Namespace,
    project: Project,
    pins: Pins,
) -> Resolved:
    if isinstance(target, Recipe):
        return resolve_recipe(target, overrides, ns, project, pins)
    _no_overrides(str(target), overrides)
    if isinstance(target, Stage):
        return resolve_stage(target, ns, project, pins)
    if isinstance(target, SmokeTarget):
        return resolve_smoke(target, ns, project, pins)
    if isinstance(target, CheckTarget):
        _no_pins(f"a check of {target.stage.key}", pins)
        return resolve_checks(target.stage, target.checks, target.version, ns, project)
    return resolve_evaluation(target.checkpoint, ns, project, pins)


def resume(run: str, *, ns: Namespace | None = None) -> Plan | None:
    """The plan that stands in the run's directory, or None if there is no such run. Whoever comes back never
    resolves twice. Raises FactoryError, code "edited", for a spec that was changed."""
    ns = ns or Namespace.open()
    directory = find_run(ns, run)
    if directory is None or not (directory / "context.json").is_file():
        return None
    spec, context = RunSpec.load(directory / "spec.json"), Context.load(directory / "context.json")
    path = directory.parents[1] / "specs" / spec.hash / "spec.json"
    return Plan(spec, context, spec.hash, path, _label(spec, context))


def _named(target: str, project: Project) -> Recipe | Stage | EvaluateTarget:
    if target.startswith("/") or is_line(target) or names_checkpoint(target):
        return EvaluateTarget(target)
    if "/" not in target:
        return get_recipe(target, project)
    stages = find_stages(project)
    if target not in stages:
        raise FactoryError(
            f"there is no stage {target}",
            found=target,
            expected=close_matches(target, list(stages)),
            fix="correct the key, or declare the stage under assets/",
            code="unknown_stage",
        )
    return stages[target]


def _frozen(hash: str, ns: Namespace, asked: dict[str, Any], resolution: int | None, project: Project) -> Plan:
    frozen = load_frozen(ns, hash)
    body = frozen.resolution if resolution is None else frozen.numbered(resolution)
    known = {name: value for name, value in body.items() if name in Context.model_fields}
    if frozen.spec.kind == "build":
        known["places"] = started_from(frozen.spec.build.key, ns)
    asked |= placed(asked["cluster"], asked["shape"], frozen.spec, project)
    given = {name: value for name, value in asked.items() if value is not None}
    context = Context.model_validate({**known, **given, "root": ns.variable})
    # A run stands beside the spec that it was launched with, and nothing is written at another site.
    path = freeze(ns, frozen.spec, body, grants=context.grants) if ns.is_away(frozen.path) else frozen.path
    return Plan(frozen.spec, context, frozen.spec.hash, path, _label(frozen.spec, context))


def _context(known: dict[str, object], asked: dict[str, Any], ns: Namespace, project: Project) -> Context:
    git = git_facts(project.root)
    given = {name: value for name, value in asked.items() if value is not None}
    return Context.model_validate(
        {
            **known,
            **given,
            "root": ns.variable,
            "commit": git.commit,
            "commit_note": git.note,
            "dirty": git.dirty,
            "dirty_digest": git.digest,
            "config_schema": config_schema(),
        }
    )


def _resolution(context: Context) -> dict[str, Any]:
    # Places belong to the resolution too: a launch by hash has nowhere else to find the checkpoint.
    return {**context.resolution(), "places": context.places}


def _label(spec: RunSpec, context: Context) -> str:
    if spec.kind == "build":
        return spec.build.key.split("/", 1)[1]
    return context.recipe or (context.line or spec.kind).rpartition("/")[2]


def _is_hash(text: str) -> bool:
    return len(text) >= 8 and set(text) <= set("0123456789abcdef")


def _no_overrides(target: str, overrides: Sequence[str] | Mapping[str, object]) -> None:
    if overrides:
        raise FactoryError(
            f"{target} takes no overrides",
            found=", ".join(map(str, overrides)),
            expected="none: only a recipe can be overridden",
            fix="leave them out, or plan the recipe with them",
            code="unused_override",
        )


def _no_pins(target: str, pins: Pins) -> None:
    if pins:
        raise FactoryError(
            f"{target} takes no pins",
            found=", ".join(pins.shown),
            expected="none: all that it reads is decided",
            fix="leave them out, or plan the recipe, the stage or the checkpoint with them",
            code="pin",
        )
