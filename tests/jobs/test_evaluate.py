"""The job `evaluate`: claims, scores, what it leaves to others. No checkpoint is scored here."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import dagster as dg

from aifactory.channel import Failure
from aifactory.launch import EvaluateTarget, plan
from aifactory.launch.claims import claim
from aifactory.orchestrate.lines import evaluations_key
from aifactory.orchestrate.reported import materializations, value_of
from tests.jobs.world import World, score

KEY = evaluations_key("public/models/small")
SENSOR = {"factory/requester": "checkpoint_evaluation"}


def claimed_by(result: dg.ExecuteInProcessResult) -> object:
    """The run that the step left the work to."""
    (event,) = [one for one in result.all_events if one.is_step_success]
    output = next(one for one in result.all_events if one.is_successful_output)
    assert event
    entry = output.event_specific_data.metadata.get("claimed_by")  # type: ignore[union-attr]
    return None if entry is None else entry.value


def test_scores_become_one_event_with_numbers(world: World, instance: dg.DagsterInstance) -> None:
    _, _, (path,) = world.trained([10])
    run_id, name = world.scored(path, [0.75])
    assert world.run(instance, "evaluate", {"checkpoint": path}, run_id=run_id).success
    (event,) = materializations(instance, KEY)
    shown = {one: value_of(event, one) for one in event.metadata}
    assert shown["quiz accuracy"] == 0.75
    assert shown["quiz accuracy low"] == 0.65
    assert shown["quiz items"] == 12
    assert shown["quiz chance"] == 0.5
    assert shown["step"] == 10
    assert (shown["run"], shown["checkpoint"]) == (name, path)
    retry = {"dagster/parent_run_id": run_id, "dagster/root_run_id": run_id, "dagster/retry_number": "1"}
    assert world.run(instance, "evaluate", {"checkpoint": path}, tags=retry).success
    assert len(list(materializations(instance, KEY))) == 1


def test_a_sensors_run_leaves_the_work_to_who_has_done_it(world: World, instance: dg.DagsterInstance) -> None:
    _, _, (path,) = world.trained([11])
    run_id, name = world.scored(path, [0.5])
    assert world.run(instance, "evaluate", {"checkpoint": path}, run_id=run_id).success
    second = world.run(instance, "evaluate", {"checkpoint": path}, tags=SENSOR)
    assert second.success
    assert claimed_by(second) == name
    assert len(list(materializations(instance, KEY))) == 1


def test_a_sensors_run_leaves_the_work_to_who_is_at_it(world: World, instance: dg.DagsterInstance) -> None:
    _, _, (path,) = world.trained([12])
    planned = plan(EvaluateTarget(path))
    assert claim(planned, "evaluate-live", always=False, requester="checkpoint_evaluation") is None
    result = world.run(instance, "evaluate", {"checkpoint": path}, tags=SENSOR)
    assert result.success
    assert claimed_by(result) == "evaluate-live"


def test_a_claimant_that_failed_is_followed_by_another(world: World, instance: dg.DagsterInstance) -> None:
    _, _, (path,) = world.trained([13])
    _, name = world.scored(path, [], error=Failure(type="ValueError", text="no"))
    planned = plan(EvaluateTarget(path))
    assert claim(planned, name, always=False, requester="checkpoint_evaluation") is None
    assert claim(planned, "evaluate-next", always=False, requester="checkpoint_evaluation") is None


def test_a_person_always_evaluates(world: World) -> None:
    _, _, (path,) = world.trained([14])
    _, name = world.scored(path, [0.5])
    planned = plan(EvaluateTarget(path))
    assert claim(planned, name, always=False, requester="checkpoint_evaluation") is None
    assert claim(planned, "evaluate-by-hand", always=True, requester="person:ada") is None
    other = claim(planned, "evaluate-third", always=False, requester="checkpoint_evaluation")
    assert other is not None


def test_who_comes_back_finds_his_own_claim(world: World) -> None:
    _, _, (path,) = world.trained([15])
    planned = plan(EvaluateTarget(path))
    for _ in range(2):
        assert claim(planned, "evaluate-own", always=False, requester="checkpoint_evaluation") is None


def test_of_many_that_claim_at_once_one_wins(world: World) -> None:
    _, _, (path,) = world.trained([17])
    planned = plan(EvaluateTarget(path))
    start = Barrier(8)

    def try_it(n: int) -> bool:
        start.wait()
        return claim(planned, f"evaluate-{n}", always=False, requester="checkpoint_evaluation") is None

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(try_it, range(8))) == 1


def test_two_attempts_are_reported_and_the_failed_ones_scores_are_not(
    world: World, instance: dg.DagsterInstance
) -> None:
    _, _, (path,) = world.trained([16])
    run_id, name, planned = world.planned("evaluate", "step-16", EvaluateTarget(path))
    world.ended(name, planned, [score(0.1)], error=Failure(type="ValueError", text="no"))
    world.ended(name, planned, [score(0.9)], attempt=2)
    assert world.run(instance, "evaluate", {"checkpoint": path}, run_id=run_id).success
    (event,) = materializations(instance, KEY)
    assert value_of(event, "quiz accuracy") == 0.9
    assert value_of(event, "attempt") == 2


def test_something_that_is_no_checkpoint_is_refused(world: World, instance: dg.DagsterInstance) -> None:
    result = world.run(instance, "evaluate", {"checkpoint": "/factory/public/runs/none/checkpoints/step-00000001"})
    assert not result.success
    (event,) = result.get_step_failure_events()
    data = event.step_failure_data.user_failure_data
    assert data is not None
    assert "is no checkpoint of a training" in str(data.description)
