"""A stage as the config of a build, for whoever plans one."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING

from aifactory.errors import FactoryError
from aifactory.spec import Build, CheckSpec

if TYPE_CHECKING:
    from aifactory.datasets.stage import Stage

SNAPSHOT = "snapshot"
"""The role of the input of a build that only runs checks: the snapshot that they run on."""


def build_config(stage: Stage) -> Build:
    """What makes the stage's next version. Its inputs are `stage.edges`, to be resolved to versions."""
    return _config(stage, [check.name for check in stage.checks])


def check_config(stage: Stage, names: Sequence[str]) -> Build:
    """What runs these checks alone. Its one input has the role SNAPSHOT: the stage's own key, at some version."""
    known = [check.name for check in stage.checks]
    for name in names:
        if name not in known:
            raise FactoryError(
                f"{stage.label} has no check {name!r}",
                found=name,
                expected=", ".join(get_close_matches(name, known, cutoff=0.4) or known),
                fix="name one that it has",
                code="unknown_check",
            )
    return _config(stage, names, only_checks=True)


def _config(stage: Stage, names: Sequence[str], *, only_checks: bool = False) -> Build:
    key = stage.key
    if key is None:
        raise FactoryError(
            f"{stage.label}: a stage without a key can't be built",
            expected="a stage that a module under assets/ binds to a name",
            fix="declare it at the top level of a file under assets/",
            code="unbound",
        )
    return Build(
        key=str(key),
        kind=stage.kind,
        function=stage.reference,
        code_version=stage.code_version,
        parameters=stage.parameters,
        access=key.access,
        benchmark=stage.benchmark,
        checks=tuple(
            CheckSpec(name=check.name, kind=check.kind, parameters=dict(check.parameters), blocking=check.blocking)
            for check in stage.checks
            if check.name in names
        ),
        only_checks=only_checks,
    )
