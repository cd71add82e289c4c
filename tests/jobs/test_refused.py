"""A run that the gate refuses, in Dagster: its table, and what an override leaves of it. Nothing is trained."""

from __future__ import annotations

import json
from typing import Any

import dagster as dg

from aifactory.launch import find_run, run_name
from aifactory.namespace import Audit, Audits
from tests.jobs.world import World

READY = "public/words/ready"


def refused(world: World, instance: dg.DagsterInstance, **config: Any) -> tuple[dg.Failure, str]:
    """The failure of the step, and the run's name."""
    result = world.run(instance, "train", {"recipe": "small", **config})
    (event,) = result.get_step_failure_events()
    data = event.step_failure_data.user_failure_data
    assert data is not None
    return dg.Failure(data.description, data.metadata), run_name("train", "small", f"{result.run_id}/train")


def test_the_failure_shows_every_reason_in_a_table(world: World, instance: dg.DagsterInstance) -> None:
    failure, _ = refused(world, instance, queue="fast", priority="high")
    table = failure.metadata["refusals"]
    assert isinstance(table, dg.MarkdownMetadataValue)
    rows = str(table.value).splitlines()[2:]
    assert [row.split(" | ")[-1] for row in rows] == ["no_queue |", "no_priority |"]


def test_an_override_takes_the_named_reason_away_and_no_other(world: World, instance: dg.DagsterInstance) -> None:
    audits = Audits(world.lab.namespace, READY, world.lab.namespace.resolve(READY).version)
    audits.add(Audit(check="not_empty", passed=False))
    try:
        failure, name = refused(world, instance, queue="fast", allow=["check_red"], why="known and harmless")
    finally:
        audits.add(Audit(check="not_empty", passed=True))
    assert failure.metadata["code"].value == "no_queue"
    directory = find_run(world.lab.namespace, name)
    assert directory is not None
    record = json.loads((directory / "gate.json").read_bytes())
    assert [one["code"] for one in record["refusals"]] == ["no_queue"]
    assert {one["code"] for one in record["allowed"]} == {"check_red"}
    assert json.loads((directory / "context.json").read_bytes())["why"] == record["why"] == "known and harmless"


def test_an_override_of_a_class_or_without_a_reason_fails_before_anything_is_frozen(
    world: World, instance: dg.DagsterInstance
) -> None:
    for config, said in (
        ({"allow": ["class"], "why": "please"}, "can't be overridden"),
        ({"allow": ["check_red"]}, "codes and a reason"),
    ):
        failure, name = refused(world, instance, **config)
        assert said in str(failure.description)
        assert find_run(world.lab.namespace, name) is None
