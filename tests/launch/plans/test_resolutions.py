"""One spec that was resolved for several lines: which one a launch by hash is for."""

from __future__ import annotations

from dataclasses import replace

import pytest

from aifactory.errors import FactoryError
from aifactory.launch import Plan, plan
from tests.launch.lab import Lab
from tests.launch.published import RECIPE, publish_all

OTHER = replace(RECIPE, line="public/models/other", scored_on=())


@pytest.fixture
def frozen(lab: Lab) -> Plan:
    """Resolved for the line tiny first, for another one without suites then."""
    publish_all(lab.ns)
    first = plan(RECIPE, project=lab.project, ns=lab.ns)
    assert plan(OTHER, project=lab.project, ns=lab.ns).hash == first.hash
    return first


@pytest.mark.parametrize(("number", "line", "suites"), [(None, "other", 0), (2, "other", 0), (1, "tiny", 1)])
def test_a_launch_by_hash_is_for_the_newest_resolution_unless_one_is_named(
    lab: Lab, frozen: Plan, number: int | None, line: str, suites: int
) -> None:
    again = plan(frozen.hash[:12], resolution=number, project=lab.project, ns=lab.ns)
    assert again.hash == frozen.hash
    assert (again.context.line, len(again.context.suites)) == (f"public/models/{line}", suites)


def test_an_unknown_resolution_is_refused_with_those_that_there_are(lab: Lab, frozen: Plan) -> None:
    with pytest.raises(FactoryError) as caught:
        plan(frozen.hash, resolution=3, project=lab.project, ns=lab.ns)
    assert caught.value.code == "unknown_resolution"
    assert "1 (recipe tiny, line public/models/tiny" in str(caught.value.expected)
    assert "2 (recipe tiny, line public/models/other" in str(caught.value.expected)


def test_only_a_hash_has_resolutions(lab: Lab, frozen: Plan) -> None:
    with pytest.raises(FactoryError) as caught:
        plan(RECIPE, resolution=1, project=lab.project, ns=lab.ns)
    assert caught.value.code == "unknown_resolution"
