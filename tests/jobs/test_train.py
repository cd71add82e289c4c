"""The job `train`: what it refuses, and what becomes of a training's messages. No training happens here."""

from __future__ import annotations

from typing import Any

import dagster as dg
import pytest

from aifactory.channel import CheckpointSaved
from aifactory.launch import resume, run_name, runs
from aifactory.namespace import Audit, Audits
from aifactory.orchestrate.lines import checkpoints_key
from aifactory.orchestrate.reported import materializations, value_of
from tests.jobs.world import World, job

KEY = checkpoints_key("public/models/small")


def events(instance: dg.DagsterInstance) -> list[dg.AssetMaterialization]:
    """Checkpoints that Dagster holds, oldest first."""
    return list(materializations(instance, KEY))[::-1]


def failure(result: dg.ExecuteInProcessResult) -> str:
    (event,) = result.get_step_failure_events()
    data = event.step_failure_data.user_failure_data
    assert data is not None
    return str(data.description)


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({"recipe": "smal"}, "there is no recipe 'smal'"),
        ({"recipe": "small", "overrides": {"model.hiden": "16"}}, "model.hidden"),
        ({"recipe": "small", "overrides": {"steps": "many"}}, "steps"),
        ({"recipe": "small", "spec": "0" * 64}, "one of `recipe` and `spec`"),
        ({}, "one of `recipe` and `spec`"),
        ({"spec": "0" * 64}, "no frozen spec has this hash"),
        ({"spec": "0" * 64, "overrides": {"steps": "1"}}, "takes no overrides"),
        ({"recipe": "small", "cluster": "moon"}, "there is no cluster 'moon'"),
        ({"recipe": "small", "queue": "fast"}, "no queue 'fast'"),
    ],
)
def test_a_wrong_config_fails_with_its_reason_before_anything_starts(
    world: World, instance: dg.DagsterInstance, config: dict[str, Any], said: str
) -> None:
    before = [run.run for run in runs(world.lab.namespace) if run.attempts]
    result = world.run(instance, "train", config)
    assert not result.success
    assert said in failure(result)
    assert [run.run for run in runs(world.lab.namespace) if run.attempts] == before
    assert not instance.get_event_records(dg.EventRecordsFilter(dg.DagsterEventType.STEP_UP_FOR_RETRY))


def test_unknown_fields_are_refused_by_the_launchpad_already() -> None:
    config = {"ops": {"train": {"config": {"recipe": "small", "on": "local"}}}}
    with pytest.raises(dg.DagsterInvalidConfigError, match="unexpected config entry"):
        dg.validate_run_config(job("train"), config)


def test_no_field_of_a_job_is_called_as_yaml_calls_a_truth() -> None:
    for name in ("train", "evaluate", "promote"):
        fields = job(name).nodes[0].definition.config_schema.as_field().config_type.fields  # type: ignore[attr-defined]
        assert not {"on", "off", "yes", "no", "y", "n"} & set(fields)


def test_every_checkpoint_becomes_an_event_with_numbers(world: World, instance: dg.DagsterInstance) -> None:
    run_id, name, paths = world.trained([1, 2])
    assert world.run(instance, "train", {"recipe": "small"}, run_id=run_id).success
    told = events(instance)
    assert [value_of(event, "checkpoint") for event in told] == paths
    assert [value_of(event, "step") for event in told] == [1, 2]
    assert [value_of(event, "loss") for event in told] == [1.0, 0.5]
    assert [value_of(event, "unigram_loss") for event in told] == [2.0, 2.0]
    assert {value_of(event, "run") for event in told} == {name}
    assert told[0].tags["dagster/data_version"] == value_of(told[0], "digest")


def test_a_worker_that_comes_back_tells_only_what_is_not_told(world: World, instance: dg.DagsterInstance) -> None:
    run_id, name, paths = world.trained([1, 2])
    instance.report_runless_asset_event(
        dg.AssetMaterialization(KEY, metadata={"run": name, "attempt": 1, "message": 2, "checkpoint": paths[0]})
    )
    assert world.run(instance, "train", {"recipe": "small"}, run_id=run_id).success
    assert [value_of(event, "checkpoint") for event in events(instance)] == paths
    retry = {"dagster/parent_run_id": run_id, "dagster/root_run_id": run_id, "dagster/retry_number": "1"}
    assert world.run(instance, "train", {"recipe": "small"}, tags=retry).success
    assert len(events(instance)) == 2


def test_checkpoints_of_an_earlier_attempt_are_told_too(world: World, instance: dg.DagsterInstance) -> None:
    run_id, name, planned = world.planned("train", "small", "small")
    path = f"/factory/public/runs/{name}/checkpoints/step-"
    for attempt, step in ((1, 1), (2, 2)):
        saved = CheckpointSaved(step=step, path=f"{path}{step:08d}", digest=f"{step:064x}", loss=1.0)
        world.ended(name, planned, [saved], attempt=attempt)
    assert world.run(instance, "train", {"recipe": "small"}, run_id=run_id).success
    assert sorted(str(value_of(event, "checkpoint")) for event in events(instance)) == [
        f"{path}{n:08d}" for n in (1, 2)
    ]


def test_a_persons_reexecution_takes_the_parents_spec(world: World, instance: dg.DagsterInstance) -> None:
    run_id, name, _ = world.trained([1])
    assert world.run(instance, "train", {"recipe": "small"}, run_id=run_id).success
    parent = resume(name)
    assert parent is not None
    recipe = world.lab.root / "recipes/small.py"
    audits = Audits(
        world.lab.namespace, "public/words/ready", world.lab.namespace.resolve("public/words/ready").version
    )
    # A red check closes the gate, so that a spec is frozen and nothing is trained.
    audits.add(Audit(check="not_empty", passed=False))
    try:
        world.lab.write("recipes/small.py", recipe.read_text().replace("steps=2", "steps=3"))
        tags = {"dagster/parent_run_id": run_id, "dagster/root_run_id": run_id}
        again = world.run(instance, "train", {"recipe": "small"}, tags=tags)
        changed = world.run(instance, "train", {"recipe": "small", "overrides": {"seed": 1}}, tags=tags)
    finally:
        world.lab.write("recipes/small.py", recipe.read_text().replace("steps=3", "steps=2"))
        audits.add(Audit(check="not_empty", passed=True))
    assert "check_red" in failure(again)
    plans = [resume(run_name("train", "small", f"{result.run_id}/train")) for result in (again, changed)]
    assert [one is not None and one.hash == parent.hash for one in plans] == [True, False]
    assert plans[1] is not None
    assert (plans[1].spec.train.steps, plans[1].spec.train.seed) == (3, 1)
