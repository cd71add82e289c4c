from __future__ import annotations

from collections.abc import Iterator

import dagster as dg
import pytest

from aifactory.namespace import Namespace
from aifactory.orchestrate.checkpoints import LIMIT, new_evaluations
from aifactory.spec import Context

LINE = dg.AssetKey(["public", "models", "tiny", "checkpoints"])
OTHER = dg.AssetKey(["public", "models", "other", "checkpoints"])


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.ephemeral() as instance:
        yield instance


def save(instance: dg.DagsterInstance, step: int, *, run: str = "train-tiny-0", line: dg.AssetKey = LINE) -> str:
    path = f"/factory/public/runs/{run}/checkpoints/step-{step:08d}"
    instance.report_runless_asset_event(
        dg.AssetMaterialization(line, metadata={"checkpoint": path, "run": run, "step": step, "digest": f"{step:064x}"})
    )
    return path


def ask(instance: dg.DagsterInstance, cursor: str | None = None) -> tuple[list[dg.RunRequest], str]:
    return new_evaluations(instance, cursor, [LINE, OTHER], sensor="checkpoint_evaluation")


def paths(requests: list[dg.RunRequest]) -> list[str]:
    return [request.run_config["ops"]["evaluate"]["config"]["checkpoint"] for request in requests]


def test_all_checkpoints_between_two_ticks_are_evaluated_in_order(instance: dg.DagsterInstance) -> None:
    saved = [save(instance, step) for step in (100, 200, 300)]
    requests, cursor = ask(instance)
    assert paths(requests) == saved
    assert ask(instance, cursor)[0] == []
    last = save(instance, 400)
    assert paths(ask(instance, cursor)[0]) == [last]


def test_run_keys_are_the_same_when_the_cursor_is_lost(instance: dg.DagsterInstance) -> None:
    save(instance, 100)
    assert ask(instance)[0][0].run_key == ask(instance)[0][0].run_key


def test_one_step_of_two_trainings_is_two_checkpoints(instance: dg.DagsterInstance) -> None:
    save(instance, 100)
    save(instance, 100, run="train-tiny-1")
    assert len({request.run_key for request in ask(instance)[0]}) == 2


def test_every_line_has_a_place_of_its_own_in_the_cursor(instance: dg.DagsterInstance) -> None:
    save(instance, 100)
    _, cursor = ask(instance)
    other = save(instance, 100, line=OTHER)
    assert paths(ask(instance, cursor)[0]) == [other]


def test_a_flood_is_asked_for_over_several_ticks(instance: dg.DagsterInstance) -> None:
    saved = [save(instance, step) for step in range(1, LIMIT + 6)]
    requests, cursor = ask(instance)
    assert len(requests) == LIMIT
    more, _ = ask(instance, cursor)
    assert paths([*requests, *more]) == saved


def test_a_materialization_by_hand_is_passed_over(instance: dg.DagsterInstance) -> None:
    instance.report_runless_asset_event(dg.AssetMaterialization(LINE))
    requests, cursor = ask(instance)
    assert requests == []
    assert paths(ask(instance, cursor)[0]) == []


def test_nobody_is_named_as_the_person_who_asked(instance: dg.DagsterInstance) -> None:
    save(instance, 100)
    assert ask(instance)[0][0].tags["factory/requester"] == "checkpoint_evaluation"


def test_an_evaluation_goes_where_its_training_ran(
    instance: dg.DagsterInstance, ns: Namespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AIFACTORY_ROOT", str(ns.root))
    for run, context in {
        "train-tiny-1": Context(cluster="lab", queue="night", priority="low"),
        "train-tiny-2": Context(cluster="local"),
    }.items():
        directory = ns.root / "public" / "runs" / run
        directory.mkdir(parents=True)
        (directory / "context.json").write_bytes(context.to_bytes())
        save(instance, 100, run=run)
    save(instance, 100, run="train-tiny-3")
    asked = [request.run_config["ops"]["evaluate"]["config"] for request in ask(instance)[0]]
    places = [{name: value for name, value in config.items() if name != "checkpoint"} for config in asked]
    assert places == [{"cluster": "lab", "queue": "night", "priority": "low"}, {}, {}]
