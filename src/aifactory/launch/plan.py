"""Plans: a spec frozen before anything is launched, and the context that it will run in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from aifactory.datasets import Stage
from aifactory.namespace import Namespace
from aifactory.project import Project
from aifactory.spec import Context, Recipe, RunSpec


@dataclass(frozen=True)
class EvaluateTarget:
    """Evaluate the checkpoint at this canonical path (`/factory/.../checkpoints/step-<8 digits>`)."""

    checkpoint: str


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
        return str(self.spec.kind)


def plan(
    target: Recipe | Stage | EvaluateTarget | str,
    *,
    cluster: str = "local",
    overrides: Sequence[str] | Mapping[str, object] = (),
    queue: str | None = None,
    priority: str | None = None,
    requester: str = "",
    parent_run: str | None = None,
    origin: str | None = None,
    deadline_seconds: float | None = None,
    project: Project | None = None,
    ns: Namespace | None = None,
) -> Plan:
    """Resolve the target and freeze its spec. Nothing is launched.

    A recipe trains, a stage builds, an EvaluateTarget scores a checkpoint; a string is the hash of a frozen spec, or
    a recipe's name. Raises GateRefused for inputs that are not built (every one of them, code "input_not_built").
    """
    raise NotImplementedError


def resume(run: str, *, ns: Namespace | None = None) -> Plan | None:
    """The plan that stands in the run's directory, or None if there is no such run. Whoever comes back never
    resolves twice."""
    raise NotImplementedError
