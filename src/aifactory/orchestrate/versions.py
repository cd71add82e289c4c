"""The code version that Dagster sees of a stage."""

from __future__ import annotations

from collections.abc import Mapping

from aifactory.datasets import Stage, find_stages
from aifactory.datasets.checks.registry import version_of
from aifactory.namespace import Key, Publication
from aifactory.project import Project
from aifactory.store import digest


class Code:
    """The code versions of publications. Stages are looked up when first asked for, once for each object."""

    def __init__(self) -> None:
        self._stages: Mapping[str, Stage] | None = None

    def version(self, key: Key, publication: Publication) -> str:
        """As Dagster sees it now, if the stage's code is still what made this version."""
        if self._stages is None:
            self._stages = find_stages(Project.current())
        stage = self._stages.get(str(key))
        same = stage is not None and stage.code_version == publication.code_version
        return shown_version(stage) if stage is not None and same else publication.code_version


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
