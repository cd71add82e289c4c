"""The job `train` shows what a run changed. No training happens here."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any

import dagster as dg
import pytest

from aifactory.launch import plan, run_name
from aifactory.namespace import Audit, Audits
from aifactory.spec import get_recipe
from tests.jobs.world import World


def logged(instance: dg.DagsterInstance, result: dg.ExecuteInProcessResult) -> str:
    return "\n".join(str(entry.user_message) for entry in instance.all_logs(result.run_id))


def output(result: dg.ExecuteInProcessResult) -> dict[str, Any]:
    (event,) = [event for event in result.all_events if event.is_successful_output]
    return {name: entry.value for name, entry in event.step_output_data.metadata.items()}


@pytest.fixture
def closed(world: World) -> Iterator[None]:
    """A red check closes the gate, so that a spec is frozen and compared and nothing is trained."""
    ns = world.lab.namespace
    audits = Audits(ns, "public/words/ready", ns.resolve("public/words/ready").version)
    audits.add(Audit(check="not_empty", passed=False))
    yield
    audits.add(Audit(check="not_empty", passed=True))


def test_a_training_shows_its_difference_from_the_run_before_it(world: World, instance: dg.DagsterInstance) -> None:
    _, before, _ = world.trained([1])
    run_id = str(uuid.uuid4())
    name = run_name("train", "small", f"{run_id}/train")
    world.ended(name, plan(get_recipe("small"), overrides=["seed=3"], origin=f"{run_id}/train"), [])
    result = world.run(instance, "train", {"recipe": "small", "overrides": {"seed": 3}}, run_id=run_id)
    assert result.success
    told = output(result)
    assert told["compared_with"] == f"{before}, the newest successful run of the line public/models/small"
    assert told["identical_except"] == "[config seed]"
    assert told["diff"].startswith("identical except: [config seed]\n\n| group | field | old | new |")
    assert "| config | seed | 0 | 3 |" in told["diff"]
    log = logged(instance, result)
    assert f"compared with {before}" in log
    assert log.index("  config seed: 0 -> 3\n") < log.index(f"attempt 1 of {name}")


@pytest.mark.usefixtures("closed")
def test_a_reexecution_is_identical_and_one_with_an_edited_config_says_what_it_changed(
    world: World, instance: dg.DagsterInstance
) -> None:
    run_id, name, planned = world.planned("train", "small", "small")
    world.ended(name, planned, [])
    assert world.run(instance, "train", {"recipe": "small"}, run_id=run_id).success
    tags = {"dagster/parent_run_id": run_id, "dagster/root_run_id": run_id}
    again = world.run(instance, "train", {"recipe": "small"}, tags=tags)
    edited = world.run(instance, "train", {"recipe": "small", "overrides": {"steps": 4}}, tags=tags)
    by_hash = world.run(instance, "train", {"spec": planned.hash}, tags=tags)
    head = f"compared with {name}, the run that was executed again: identical except: "
    assert f"{head}[]" in logged(instance, again)
    assert f"{head}[config steps]" in logged(instance, edited)
    assert f"{head}[]" in logged(instance, by_hash)


@pytest.mark.usefixtures("closed")
def test_a_record_that_can_not_be_read_stops_no_training(world: World, instance: dg.DagsterInstance) -> None:
    run_id, name, planned = world.planned("train", "small", "small")
    directory = world.ended(name, planned, [])
    assert world.run(instance, "train", {"recipe": "small"}, run_id=run_id).success
    spec = (directory / "spec.json").read_bytes()
    (directory / "spec.json").write_bytes(spec.replace(b'"seed": 0', b'"seed": 1'))
    tags = {"dagster/parent_run_id": run_id, "dagster/root_run_id": run_id}
    result = world.run(instance, "train", {"recipe": "small", "overrides": {"steps": 4}}, tags=tags)
    (directory / "spec.json").write_bytes(spec)
    log = logged(instance, result)
    assert "could not be compared with an earlier run" in log
    assert "edited after it was frozen" in log
    assert "check_red" in log or "refused" in str(result.get_step_failure_events())
