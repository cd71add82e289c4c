"""The job `promote`, and what the line shows in Dagster of promotions made here and in a terminal."""

from __future__ import annotations

import uuid

import dagster as dg
import pytest

from aifactory.launch import plan
from aifactory.launch.checkpoints.promote import promote
from aifactory.namespace import Namespace, Publications
from aifactory.orchestrate.keys import asset_key
from aifactory.orchestrate.lines import evaluations_key
from aifactory.orchestrate.reported import materializations, value_of
from aifactory.orchestrate.sync import sync
from tests.jobs.test_train import failure
from tests.jobs.world import World
from tests.launch.saved import save

LINE = "public/models/small"
RUN = "train-small-0123456789ab"


@pytest.fixture
def world(own_world: World) -> World:
    planned = plan("small")
    for step in (1, 2):
        save(own_world.lab.namespace, planned, RUN, step, weights=f"weights {step}")
    return own_world


@pytest.fixture
def ns(world: World) -> Namespace:
    return world.lab.namespace


def told(instance: dg.DagsterInstance) -> list[dg.AssetMaterialization]:
    """What Dagster holds of the line, oldest first."""
    return list(materializations(instance, asset_key(LINE)))[::-1]


def test_the_job_materializes_the_line(world: World, instance: dg.DagsterInstance, ns: Namespace) -> None:
    assert world.run(instance, "promote", {"checkpoint": f"{RUN}/1", "why": "first"}).success
    (event,) = told(instance)
    assert str(event.description).startswith(f"step 1 of {RUN}: publish 1 by ")
    shown = {name: value_of(event, name) for name in event.metadata}
    version = ns.resolve(LINE).version
    assert (shown["step"], shown["run"], shown["why"], shown["version"]) == (1, RUN, "first", version)
    assert shown["checkpoint"] == f"/factory/public/runs/{RUN}/checkpoints/step-00000001"
    assert event.tags["dagster/data_version"] == version
    current = Publications(ns, LINE).current()
    assert current is not None
    assert current.writer.startswith("pipeline/public@")
    assert current.writer.endswith(" for person:dagster")
    assert not [line for line in sync(instance, ns, None)[0] if line.startswith(LINE)]  # nothing to add


def test_promoting_what_is_current_ends_green_and_tells_nothing_twice(
    world: World, instance: dg.DagsterInstance, ns: Namespace
) -> None:
    for _ in range(2):
        assert world.run(instance, "promote", {"checkpoint": f"{RUN}/1"}).success
    assert len(told(instance)) == Publications(ns, LINE).number() == 1


def test_a_promotion_in_a_terminal_and_a_rollback_reach_the_line(
    world: World, instance: dg.DagsterInstance, ns: Namespace
) -> None:
    first = promote(f"{RUN}/1", ns=ns, writer="ada").snapshot
    promote(f"{RUN}/2", ns=ns, writer="ada", why="better")
    _, cursor = sync(instance, ns, None)
    assert [value_of(event, "step") for event in told(instance)] == [1, 2]
    Publications(ns, LINE).rollback(first.version, writer="ada", why="it was not")
    sync(instance, ns, cursor)
    last = told(instance)[-1]
    assert (value_of(last, "step"), value_of(last, "outcome")) == (1, "rolled back")
    assert last.tags["dagster/data_version"] == first.version


def test_a_promotion_while_its_training_goes_on_is_told_at_once(
    world: World, instance: dg.DagsterInstance, ns: Namespace
) -> None:
    going = instance.create_run_for_job(some_job, status=dg.DagsterRunStatus.STARTED)
    context = ns.class_root("public") / "runs" / RUN / "context.json"
    context.write_bytes(plan("small", origin=f"{going.run_id}/train").context.to_bytes())
    promote(f"{RUN}/1", ns=ns, writer="ada")
    sync(instance, ns, None)
    assert len(told(instance)) == 1


def test_what_is_no_checkpoint_fails_with_its_reason(world: World, instance: dg.DagsterInstance) -> None:
    for name, said in ((f"{RUN}/7", "no checkpoint of step 7"), (LINE, "is a line, not a checkpoint")):
        result = world.run(instance, "promote", {"checkpoint": name})
        assert not result.success
        assert said in failure(result)


def test_the_job_evaluate_scores_what_a_line_stands_for(
    world: World, instance: dg.DagsterInstance, ns: Namespace
) -> None:
    version = promote(f"{RUN}/2", ns=ns, writer="ada").snapshot.version
    for target in (LINE, f"{LINE}@{version[:12]}"):
        run_id, name = world.scored(target, [0.75], label="small")
        assert world.run(instance, "evaluate", {"checkpoint": target}, run_id=run_id).success
        event = next(iter(materializations(instance, evaluations_key(LINE))))
        assert (value_of(event, "step"), value_of(event, "run")) == (2, name)
        assert value_of(event, "model") == f"{LINE}@{version[:16]}"
        assert value_of(event, "checkpoint") == f"/factory/public/models/small/@{version[:16]}"


def test_an_evaluation_of_a_line_in_a_terminal_is_told_alike(
    world: World, instance: dg.DagsterInstance, ns: Namespace
) -> None:
    promote(f"{RUN}/2", ns=ns, writer="ada")
    _, name = world.scored(LINE, [0.5], label="small")
    sync(instance, ns, None)
    (event,) = [one for one in materializations(instance, evaluations_key(LINE)) if value_of(one, "run") == name]
    assert value_of(event, "step") == 2


def test_a_location_promotes_and_evaluates_what_is_of_its_class_only(
    world: World, instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AIFACTORY_LOAD", "private/clinic")
    for job in ("promote", "evaluate"):
        result = world.run(instance, job, {"checkpoint": f"{RUN}/1"})
        assert not result.success
        assert "does not execute" in failure(result)


def test_an_evaluation_of_a_line_without_a_snapshot_is_refused(world: World, instance: dg.DagsterInstance) -> None:
    result = world.run(instance, "evaluate", {"checkpoint": LINE}, run_id=str(uuid.uuid4()))
    assert not result.success
    assert "input_not_built" in failure(result)
    assert "aifactory promote" in failure(result)


@dg.op
def nothing() -> None: ...


@dg.job
def some_job() -> None:
    nothing()
