"""A training that a person executes again: for whom, and what the gate says of it by now. No training happens here."""

from __future__ import annotations

from collections.abc import Iterator

import dagster as dg
import pytest

from aifactory.launch import Plan, plan, resume, run_name
from aifactory.namespace import Audit, Audits
from tests.jobs.world import World

READY = "public/words/ready"
OTHER = """
from aifactory.spec import GPT, Mix, Train, recipe
from assets.public import words


@recipe(line="public/models/other")
def other() -> Train:
    return Train(model=GPT(layers=1, hidden=8, heads=1, context=8), mix=Mix.of({words.ready: 1.0}), steps=2)
"""


@pytest.fixture
def audits(world: World) -> Iterator[Audits]:
    """Those of the data, red, so that a spec is frozen and nothing is trained; green again afterwards."""
    found = Audits(world.lab.namespace, READY, world.lab.namespace.resolve(READY).version)
    found.add(Audit(check="not_empty", passed=False))
    yield found
    found.add(Audit(check="not_empty", passed=True))


def again(world: World, instance: dg.DagsterInstance, parent: str) -> tuple[dg.ExecuteInProcessResult, Plan]:
    tags = {"dagster/parent_run_id": parent, "dagster/root_run_id": parent}
    result = world.run(instance, "train", {"recipe": "small"}, tags=tags)
    found = resume(run_name("train", "small", f"{result.run_id}/train"))
    assert found is not None
    return result, found


@pytest.mark.usefixtures("audits")
def test_it_stays_in_its_line_whatever_its_spec_was_resolved_for_since(
    world: World, instance: dg.DagsterInstance
) -> None:
    run_id, name, _ = world.trained([1])
    assert world.run(instance, "train", {"recipe": "small"}, run_id=run_id).success
    parent = resume(name)
    assert parent is not None
    other = world.lab.write("recipes/other.py", OTHER)
    try:
        moved = plan("other")
        assert (moved.hash, moved.context.line) == (parent.hash, "public/models/other")
        _, found = again(world, instance, run_id)
    finally:
        other.unlink()
    for field in ("recipe", "line", "suites", "baseline", "commit", "config_schema"):
        assert getattr(found.context, field) == getattr(parent.context, field), field
    assert found.hash == parent.hash
    assert found.context.parent_run == f"{run_id}/train"
    assert found.context.requester == "person:dagster"
    assert found.context.origin != parent.context.origin


def test_a_run_that_was_refused_is_asked_about_anew_only_as_another_run(
    world: World, instance: dg.DagsterInstance, audits: Audits
) -> None:
    first = world.run(instance, "train", {"recipe": "small"})
    assert not first.success
    name = run_name("train", "small", f"{first.run_id}/train")
    audits.add(Audit(check="not_empty", passed=True))
    # Dagster's own retry is the same run, whose refusal is kept.
    retry = {"dagster/parent_run_id": first.run_id, "dagster/root_run_id": first.run_id, "dagster/retry_number": "1"}
    kept = world.run(instance, "train", {"recipe": "small"}, tags=retry)
    (event,) = kept.get_step_failure_events()
    assert "check_red" in str(event.step_failure_data.user_failure_data)
    audits.add(Audit(check="not_empty", passed=False))
    result, found = again(world, instance, first.run_id)
    parent = resume(name)
    assert not result.success
    assert parent is not None
    assert found.hash == parent.hash
