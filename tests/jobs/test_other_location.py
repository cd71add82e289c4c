"""Jobs of a code location that are asked for what another one executes."""

from __future__ import annotations

import dagster as dg
import pytest

from aifactory.launch import plan, runs
from aifactory.launch.scope import VARIABLE
from aifactory.spec import get_recipe
from tests.jobs.test_train import failure
from tests.jobs.world import World


def test_a_hash_and_a_recipe_of_another_class_are_refused_with_both_names(
    world: World, instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    planned = plan(get_recipe("small"))
    before = [run.run for run in runs(world.lab.namespace)]
    monkeypatch.setenv(VARIABLE, "private/clinic")
    for config in ({"recipe": "small"}, {"spec": planned.hash}, {"spec": planned.hash[:12]}):
        said = failure(world.run(instance, "train", config))
        assert "the code location aifactory-private-clinic does not execute" in said
        assert "found: public\n  expected: private/clinic" in said
        assert "fix: launch it from the code location aifactory-public (AIFACTORY_LOAD=public)" in said
    assert [run.run for run in runs(world.lab.namespace)] == before


def test_what_is_its_own_is_launched(
    world: World, instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As far as the gate, which refuses a queue."""
    monkeypatch.setenv(VARIABLE, "public")
    said = failure(world.run(instance, "train", {"recipe": "small", "queue": "fast"}))
    assert "no queue 'fast'" in said
