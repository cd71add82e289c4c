"""Builds of declared stages: from a file under assets/ to a published version, through real processes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from aifactory.channel import Audited, StageBuilt
from aifactory.datasets import find_stages
from aifactory.launch import CheckTarget, GateRefused, Plan, RunResult, launch, plan
from aifactory.namespace import Namespace
from aifactory.project import Project

ASSET = '''
"""Two stages."""

from collections.abc import Iterator
from dataclasses import dataclass

from aifactory.datasets import dataset, rows, unique


@dataclass(frozen=True)
class Row:
    n: int


@dataset()
def numbers() -> Iterator[Row]:
    """Ten numbers."""
    yield from (Row(n) for n in range(10))


@dataset(checks=[rows(10), unique("n")])
def squares(numbers: list[Row]) -> Iterator[Row]:
    """Their squares."""
    yield from (Row(row.n ** 2) for row in numbers)
'''


@pytest.fixture
def project(tmp_path: Path, ns: Namespace) -> Project:
    """A project of one asset file, run by the machinery of this checkout."""
    here = Project.current()
    root = tmp_path / "project"
    asset = root / "assets/public/launched.py"
    asset.parent.mkdir(parents=True)
    asset.write_text(ASSET)
    (root / "clusters.toml").write_bytes((here.root / "clusters.toml").read_bytes())
    return replace(here, root=root, state=root / ".aifactory", namespace=ns.root)


def run(planned: Plan, project: Project, ns: Namespace) -> RunResult:
    return launch(planned, project=project, ns=ns)


def test_stages_are_built_in_order_and_checks_run_alone(project: Project, ns: Namespace) -> None:
    with pytest.raises(GateRefused) as caught:
        plan("public/launched/squares", project=project, ns=ns)
    assert "aifactory launch public/launched/numbers" in str(caught.value)
    for key in ("public/launched/numbers", "public/launched/squares"):
        planned = plan(key, project=project, ns=ns)
        result = run(planned, project, ns)
        assert result.outcome == "succeeded", result.error
        (built,) = [m.payload for m in result.messages if isinstance(m.payload, StageBuilt)]
        assert (built.key, built.outcome, built.rows) == (key, "published", 10)
        assert ns.resolve(key).version == built.version
    again = run(plan("public/launched/squares", project=project, ns=ns), project, ns)
    (built,) = [m.payload for m in again.messages if isinstance(m.payload, StageBuilt)]
    assert built.outcome in ("reused", "unchanged")
    stage = find_stages(project)["public/launched/squares"]
    alone = run(plan(CheckTarget(stage, ("rows",)), project=project, ns=ns), project, ns)
    assert alone.outcome == "succeeded", alone.error
    assert [m.payload.check for m in alone.messages if isinstance(m.payload, Audited)] == ["rows"]
