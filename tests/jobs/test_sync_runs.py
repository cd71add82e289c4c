"""Trainings and evaluations that no Dagster run watched reach Dagster from their records."""

from __future__ import annotations

import dagster as dg

from aifactory.orchestrate.lines import checkpoints_key, evaluations_key
from aifactory.orchestrate.reported import materializations, value_of
from aifactory.orchestrate.sync import sync
from tests.jobs.world import World

CHECKPOINTS, EVALUATIONS = checkpoints_key("public/models/small"), evaluations_key("public/models/small")


def told(instance: dg.DagsterInstance, key: dg.AssetKey, run: str) -> list[object]:
    """The steps that Dagster holds of a run, oldest first."""
    events = [event for event in materializations(instance, key) if value_of(event, "run") == run]
    return [value_of(event, "step") for event in events][::-1]


def test_what_was_run_elsewhere_is_told_once(world: World, instance: dg.DagsterInstance) -> None:
    _, training, (path, _) = world.trained([20, 21])
    _, evaluation = world.scored(path, [0.75])
    _, cursor = sync(instance, world.lab.namespace, None)
    assert told(instance, CHECKPOINTS, training) == [20, 21]
    assert told(instance, EVALUATIONS, evaluation) == [20]
    assert sync(instance, world.lab.namespace, cursor)[0] == []
    assert sync(instance, world.lab.namespace, None)[0] == []  # the cursor was lost, Dagster still knows
    (event,) = [one for one in materializations(instance, EVALUATIONS) if value_of(one, "run") == evaluation]
    assert (value_of(event, "quiz accuracy"), value_of(event, "checkpoint")) == (0.75, path)


def test_what_a_dagster_run_told_is_not_told_again(world: World, instance: dg.DagsterInstance) -> None:
    run_id, training, (path,) = world.trained([22])
    assert world.run(instance, "train", {"recipe": "small"}, run_id=run_id).success
    evaluation_id, evaluation = world.scored(path, [0.5])
    assert world.run(instance, "evaluate", {"checkpoint": path}, run_id=evaluation_id).success
    sync(instance, world.lab.namespace, None)
    assert told(instance, CHECKPOINTS, training) == [22]
    assert told(instance, EVALUATIONS, evaluation) == [22]


def test_a_run_whose_records_are_damaged_is_named_and_hides_no_other(
    world: World, instance: dg.DagsterInstance
) -> None:
    _, damaged, _ = world.trained([23])
    _, whole, _ = world.trained([24])
    (world.lab.namespace.root / f"public/runs/{damaged}/attempts/00000001/messages/00000002.json").write_text("torn")
    said, _ = sync(instance, world.lab.namespace, None)
    assert any(line.startswith(damaged) and "00000002.json" in line for line in said)
    assert told(instance, CHECKPOINTS, whole) == [24]


def test_a_training_that_runs_is_told_as_it_goes(world: World, instance: dg.DagsterInstance) -> None:
    _, training, _ = world.trained([25], ended=False)
    _, cursor = sync(instance, world.lab.namespace, None)
    assert told(instance, CHECKPOINTS, training) == [25]
    assert training not in cursor
