"""The files of sensors/ and schedules/, as a code location loads them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest

from aifactory.launch.scope import VARIABLE
from aifactory.namespace import Namespace, Staging
from aifactory.orchestrate.folders import defined
from tests.orchestrate.lab import CHECKOUT, make
from tests.sensors.publishing import publish

RECIPE = """
from aifactory.spec import GPT, Mix, Train, recipe


@recipe(line="public/models/small", suites=["public/words/quiz"])
def small() -> Train:
    return Train(model=GPT(layers=1, hidden=8, heads=1, context=8), mix=Mix.of({"public/words/ready": 1.0}), steps=2)


@recipe(line="public/models/unscored")
def unscored() -> Train:
    return small()
"""


@pytest.fixture(autouse=True)
def _lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(tmp_path, monkeypatch).write("recipes/small.py", RECIPE)


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.ephemeral() as instance:
        yield instance


def sensor(name: str) -> dg.SensorDefinition:
    (found,) = [one for one in defined(CHECKOUT, "sensors", (dg.SensorDefinition,)) if one.name == name]
    return found


def schedule(name: str) -> dg.ScheduleDefinition:
    (found,) = [one for one in defined(CHECKOUT, "schedules", (dg.ScheduleDefinition,)) if one.name == name]
    return found


def test_checkpoints_of_scored_lines_are_asked_for_by_the_sensor_and_again_by_none(
    instance: dg.DagsterInstance,
) -> None:
    for line in ("small", "unscored"):
        path = f"/factory/public/runs/train-{line}-0/checkpoints/step-00000001"
        metadata = {"checkpoint": path, "run": f"train-{line}-0", "step": 1, "digest": "0" * 64}
        key = dg.AssetKey(["public", "models", line, "checkpoints"])
        instance.report_runless_asset_event(dg.AssetMaterialization(key, metadata=metadata))
    definition = sensor("checkpoint_evaluation")
    tick = definition.evaluate_tick(dg.build_sensor_context(instance=instance))
    assert [request.run_key for request in tick.run_requests or []] == [f"train-small-0/1/{'0' * 16}"]
    assert json.loads(str(tick.cursor)).keys() == {"public/models/small/checkpoints"}
    again = definition.evaluate_tick(dg.build_sensor_context(instance=instance, cursor=tick.cursor))
    assert not again.run_requests


def test_the_journal_sync_says_what_it_told_and_keeps_its_cursor(instance: dg.DagsterInstance) -> None:
    publish(Namespace.open(), "public/words/raw", "a")
    definition = sensor("journal_sync")
    context = dg.build_sensor_context(instance=instance)
    tick = definition.evaluate_tick(context)
    assert "told Dagster of 1 records" in str(tick.skip_message)
    again = definition.evaluate_tick(dg.build_sensor_context(instance=instance, cursor=tick.cursor))
    assert again.skip_message == "nothing new in the records"
    assert instance.has_asset_key(dg.AssetKey(["public", "words", "raw"]))


def test_the_nightly_sweep_runs() -> None:
    job = schedule("nightly_sweep").job
    assert isinstance(job, dg.JobDefinition)
    assert job.execute_in_process().success


def test_the_sensors_of_a_location_look_at_its_class_only(
    instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    for key in ("public/words/raw", "private/ward/words/raw", "private/other/words/raw"):
        publish(Namespace.open(), key, "a")
    monkeypatch.setenv(VARIABLE, "private/ward")
    context = dg.build_sensor_context(instance=instance)
    tick = sensor("journal_sync__private__ward").evaluate_tick(context)
    assert "told Dagster of 1 records" in str(tick.skip_message)
    assert list(json.loads(str(context.cursor))["keys"]) == ["private/ward/words/raw"]
    assert instance.all_asset_keys() == [dg.AssetKey(["private", "ward", "words", "raw"])]
    key = dg.AssetKey(["public", "models", "small", "checkpoints"])
    metadata = {"checkpoint": "/factory/public/runs/train-small-0/checkpoints/step-00000001", "run": "train-small-0"}
    instance.report_runless_asset_event(dg.AssetMaterialization(key, metadata=metadata))
    evaluation = sensor("checkpoint_evaluation__private__ward")
    assert not evaluation.evaluate_tick(dg.build_sensor_context(instance=instance)).run_requests


def test_the_sweep_of_a_location_leaves_other_classes_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    ns = Namespace.open()
    left = []
    for key in ("public/words/raw", "private/ward/words/raw"):
        publish(ns, key, "a")
        left.append(Staging.start(ns, key, "killed").path)
        os.utime(left[-1], (0, 0))
    monkeypatch.setenv(VARIABLE, "private/ward")
    job = schedule("nightly_sweep__private__ward").job
    assert isinstance(job, dg.JobDefinition)
    assert job.execute_in_process().success
    assert [path.exists() for path in left] == [True, False]
