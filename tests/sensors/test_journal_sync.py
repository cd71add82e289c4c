from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest

from aifactory.namespace import Namespace, Publications
from aifactory.orchestrate.keys import asset_key
from aifactory.orchestrate.reported import materializations, value_of
from aifactory.orchestrate.sync import sync
from aifactory.spec import Context
from tests.sensors.publishing import publish
from tests.spec.factories import build_spec

KEY = "public/letters/raw"


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.ephemeral() as instance:
        yield instance


def numbers(instance: dg.DagsterInstance, key: str = KEY) -> list[object]:
    """Journal numbers that Dagster holds, oldest first."""
    return [value_of(event, "publication") for event in materializations(instance, asset_key(key))][::-1]


def data_version(instance: dg.DagsterInstance, key: str = KEY) -> str:
    entry = instance.get_latest_materialization_event(asset_key(key))
    assert entry is not None
    assert entry.asset_materialization is not None
    return entry.asset_materialization.tags["dagster/data_version"]


def test_an_empty_database_is_filled_in_the_journals_order(instance: dg.DagsterInstance, ns: Namespace) -> None:
    first, second = publish(ns, KEY, "a"), publish(ns, KEY, "b")
    publish(ns, "public/letters/clean", "A", inputs={KEY: second.version})
    said, _ = sync(instance, ns, None)
    assert len(said) == 3
    assert numbers(instance) == [first.n, second.n]
    assert data_version(instance) == second.version


def test_nothing_is_told_twice(instance: dg.DagsterInstance, ns: Namespace) -> None:
    publish(ns, KEY, "a")
    _, cursor = sync(instance, ns, None)
    assert sync(instance, ns, cursor)[0] == []
    assert sync(instance, ns, None)[0] == []  # the cursor was lost, Dagster still knows
    assert numbers(instance) == [1]


def test_a_rollback_moves_dagsters_data_version_back(instance: dg.DagsterInstance, ns: Namespace) -> None:
    first, _ = publish(ns, KEY, "a"), publish(ns, KEY, "b")
    _, cursor = sync(instance, ns, None)
    Publications(ns, KEY).rollback(first.version, writer="ada", why="b was wrong")
    said, _ = sync(instance, ns, cursor)
    assert said == [f"{KEY}@{first.version[:16]}: rollback 3 by ada"]
    assert data_version(instance) == first.version


def test_checks_come_after_the_materialization_that_they_are_about(instance: dg.DagsterInstance, ns: Namespace) -> None:
    publish(ns, KEY, "a", red="plenty")
    told: list[dg.AssetMaterialization | dg.AssetCheckEvaluation] = []
    report = instance.report_runless_asset_event

    def listen(event: dg.AssetMaterialization | dg.AssetCheckEvaluation) -> None:
        told.append(event)
        report(event)

    instance.report_runless_asset_event = listen  # type: ignore[method-assign,assignment]
    sync(instance, ns, None)
    assert isinstance(told[0], dg.AssetMaterialization)
    checks = {event.check_name: event for event in told[1:] if isinstance(event, dg.AssetCheckEvaluation)}
    assert checks["files"].passed
    assert checks["files"].blocking
    assert not checks["plenty"].passed
    assert checks["plenty"].severity == dg.AssetCheckSeverity.WARN
    assert checks["plenty"].description == "too few"


def test_inputs_land_in_provenance(instance: dg.DagsterInstance, ns: Namespace) -> None:
    raw = publish(ns, KEY, "a")
    publish(ns, "public/letters/clean", "A", inputs={KEY: raw.version})
    sync(instance, ns, None)
    entry = instance.get_latest_materialization_event(asset_key("public/letters/clean"))
    assert entry is not None
    assert entry.asset_materialization is not None
    assert entry.asset_materialization.tags[f"dagster/input_data_version/{KEY}"] == raw.version


@dg.op
def nothing() -> None: ...


@dg.job
def some_job() -> None:
    nothing()


def run_of(ns: Namespace, name: str, origin: str) -> None:
    """A run's directory, as its launcher leaves it."""
    directory = ns.class_root("public") / "runs" / name
    directory.mkdir(parents=True)
    (directory / "spec.json").write_bytes(build_spec().to_bytes())
    (directory / "context.json").write_bytes(Context(origin=origin).to_bytes())


def test_a_publication_of_a_dagster_run_that_goes_on_is_that_runs_to_tell(
    instance: dg.DagsterInstance, ns: Namespace
) -> None:
    going = instance.create_run_for_job(some_job, status=dg.DagsterRunStatus.STARTED)
    run_of(ns, "build-raw-0", f"{going.run_id}/step")
    publish(ns, KEY, "a", run="build-raw-0")
    said, cursor = sync(instance, ns, None)
    assert said == []
    instance.report_runless_asset_event(dg.AssetMaterialization(asset_key(KEY), metadata={"publication": 1}))
    assert sync(instance, ns, cursor)[0] == []
    assert numbers(instance) == [1]


def test_a_publication_that_its_dagster_run_never_told_is_told_when_it_is_over(
    instance: dg.DagsterInstance, ns: Namespace
) -> None:
    over = instance.create_run_for_job(some_job, status=dg.DagsterRunStatus.CANCELED)
    run_of(ns, "build-raw-0", f"{over.run_id}/step")
    publish(ns, KEY, "a", run="build-raw-0")
    assert len(sync(instance, ns, None)[0]) == 1


def test_what_dagster_never_heard_of_between_two_that_it_did_is_left_out(
    instance: dg.DagsterInstance, ns: Namespace
) -> None:
    publish(ns, KEY, "a")
    second = publish(ns, KEY, "b")
    instance.report_runless_asset_event(
        dg.AssetMaterialization(
            asset_key(KEY), metadata={"publication": 2}, tags={"dagster/data_version": second.version}
        )
    )
    assert sync(instance, ns, None)[0] == []
    assert data_version(instance) == second.version


def test_a_journal_that_is_torn_is_named_and_hinders_no_other(instance: dg.DagsterInstance, ns: Namespace) -> None:
    publish(ns, KEY, "a")
    publish(ns, "public/other/raw", "a")
    record = ns.directory(KEY) / "@journal" / "00000001.json"
    record.chmod(0o644)
    record.write_bytes(record.read_bytes()[:20])
    said, cursor = sync(instance, ns, None)
    assert len(said) == 2
    assert any(line.startswith(f"{KEY}: ") and "journal" in line for line in said)
    assert numbers(instance, "public/other/raw") == [1]
    assert sync(instance, ns, cursor)[0] == []


def test_a_tick_without_time_goes_on_with_the_next(instance: dg.DagsterInstance, ns: Namespace) -> None:
    publish(ns, KEY, "a")
    said, cursor = sync(instance, ns, None, seconds=-1)
    assert said == []
    assert len(sync(instance, ns, cursor)[0]) == 1


def test_an_empty_namespace_is_no_error(instance: dg.DagsterInstance, tmp_path: Path) -> None:
    assert sync(instance, Namespace(tmp_path / "none"), None) == ([], "{}")
