"""The code version that Dagster sees of a stage."""

from __future__ import annotations

from aifactory.datasets import Stage
from aifactory.datasets.checks.registry import version_of
from aifactory.store import digest


def shown_version(stage: Stage) -> str:
    """The version of the stage's code, and after the hyphen that of its checks.

    Checks decide nothing of the content, so they are in no build key; but automation must ask again when one is
    corrected, and it looks at this alone.
    """
    checks = [
        [check.name, check.kind, dict(check.parameters), check.blocking, version_of(check.kind)]
        for check in stage.checks
    ]
    return f"{stage.code_version}-{digest(checks)[:8]}"
