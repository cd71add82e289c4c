"""Builds from Dagster: the steps run in this process, the work in processes of the data image."""

from __future__ import annotations

from typing import Any

import dagster as dg

from aifactory.launch import Attempts, runs
from aifactory.namespace import Audits, Publications
from aifactory.orchestrate.keys import asset_key
from aifactory.orchestrate.reported import materializations, value_of
from aifactory.orchestrate.versions import shown_version
from tests.orchestrate.lab import LETTERS, Lab

RAW, CLEAN = "public/letters/raw", "public/letters/clean"


def version(instance: dg.DagsterInstance, key: str) -> str | None:
    """The data version that Dagster holds."""
    entry = instance.get_latest_materialization_event(asset_key(key))
    return entry.asset_materialization.tags["dagster/data_version"] if entry and entry.asset_materialization else None


def evaluations(result: dg.ExecuteInProcessResult, key: str) -> dict[str, dg.AssetCheckEvaluation]:
    """Check results of one asset by name."""
    return {one.check_name: one for one in result.get_asset_check_evaluations() if one.asset_key == asset_key(key)}


def failure(result: dg.ExecuteInProcessResult) -> str:
    """What the failed steps said."""
    data = [event.step_failure_data for event in result.get_step_failure_events()]
    return "\n".join(str(one.user_failure_data.description) for one in data if one.user_failure_data)


def test_green_is_materialized_with_its_version_and_its_checks(lab: Lab, instance: dg.DagsterInstance) -> None:
    result = lab.materialize(instance)
    assert result.success
    current = {key: lab.namespace.resolve(key).version for key in (RAW, CLEAN)}
    assert {key: version(instance, key) for key in (RAW, CLEAN)} == current
    checks = evaluations(result, CLEAN)
    assert {name: check.passed for name, check in checks.items()} == {
        "files": True, "not_empty": True, "schema": True, "unique_name": True, "all": True
    }  # fmt: skip
    assert all(value_of(check, "version") == current[CLEAN] for check in checks.values())
    event = next(materializations(instance, asset_key(CLEAN)))
    assert event.tags[f"dagster/input_data_version/{RAW}"] == current[RAW]
    assert event.tags["dagster/code_version"] == shown_version(lab.stages()[CLEAN])
    shown = {name: value_of(event, name) for name in event.metadata}
    assert shown["class"] == "public"
    assert shown["dagster/row_count"] == 26
    assert shown["publication"] == 1
    assert str(shown["inputs"]).endswith(f"| {RAW} | {current[RAW]} |")
    assert "| A | 0 |" in str(shown["preview"])
    assert "█" in str(shown["lengths"])
    schema: Any = shown["dagster/column_schema"]
    assert [column.name for column in schema.columns] == ["name", "place"]

    again = lab.materialize(instance)
    assert again.success
    event = next(materializations(instance, asset_key(CLEAN)))
    assert value_of(event, "outcome") == "reused"
    assert value_of(event, "publication") == 1
    assert version(instance, CLEAN) == current[CLEAN]
    assert all(check.passed for check in evaluations(again, CLEAN).values())


def test_red_is_not_materialized_and_stops_what_follows(lab: Lab, instance: dg.DagsterInstance) -> None:
    assert lab.materialize(instance).success
    before = version(instance, RAW)
    lab.write("assets/public/letters.py", LETTERS.replace("range(26)", "range(25)"))
    result = lab.materialize(instance)
    assert not result.success
    checks = evaluations(result, RAW)
    assert not checks["rows"].passed
    assert checks["files"].passed
    staged = value_of(checks["rows"], "version")
    assert staged != before
    assert Audits(lab.namespace, RAW, str(staged)).latest()["rows"].passed is False
    assert version(instance, RAW) == before == lab.namespace.resolve(RAW).version
    assert evaluations(result, CLEAN) == {}
    assert "what was current stays current" in failure(result)
    assert "rows" in failure(result)

    # A person runs the check again, on what is current: it is green, and says of which version.
    alone = lab.check(instance, RAW, "rows")
    assert alone.success
    assert {name: check.metadata["version"].value for name, check in evaluations(alone, RAW).items()} == {
        "rows": before
    }


def test_a_check_alone_builds_nothing_and_its_red_result_closes_the_gate(
    lab: Lab, instance: dg.DagsterInstance
) -> None:
    assert lab.materialize(instance).success
    snapshot = lab.namespace.resolve(RAW)
    published = Publications(lab.namespace, RAW).number()
    file = snapshot.paths()[0]
    file.chmod(0o644)
    file.write_bytes(file.read_bytes()[:-1] + b"X")
    result = lab.check(instance, RAW, "files")
    checks = evaluations(result, RAW)
    assert list(checks) == ["files"]
    assert not checks["files"].passed
    assert checks["files"].blocking
    assert Publications(lab.namespace, RAW).number() == published
    lab.write("assets/public/letters.py", LETTERS.replace("letter.name.upper()", "letter.name.title()"))
    refused = lab.materialize(instance, CLEAN)
    assert not refused.success
    assert "check_red" in failure(refused)
    assert evaluations(refused, CLEAN) == {}


def test_a_check_alone_without_a_snapshot_is_refused(lab: Lab, instance: dg.DagsterInstance) -> None:
    result = lab.check(instance, RAW, "files")
    assert not result.success
    assert RAW in failure(result)


def test_an_input_that_is_not_built_is_refused_with_the_way_out(lab: Lab, instance: dg.DagsterInstance) -> None:
    result = lab.materialize(instance, CLEAN)
    assert not result.success
    assert "input_not_built" in failure(result)
    assert f"materialize {RAW} in the UI" in failure(result)
    assert runs(lab.namespace) == []


def test_a_function_that_raises_is_said_and_changes_nothing(lab: Lab, instance: dg.DagsterInstance) -> None:
    lab.write("assets/public/letters.py", LETTERS.replace("for place in range(26):", "for place in [1 / 0]:"))
    result = lab.materialize(instance, RAW)
    assert not result.success
    assert "ZeroDivisionError: division by zero" in failure(result)
    assert version(instance, RAW) is None
    assert evaluations(result, RAW) == {}


def test_of_private_data_dagster_holds_no_value(lab: Lab, instance: dg.DagsterInstance) -> None:
    secret = LETTERS.replace('chr(ord("a") + place)', 'f"secret{place}"')
    lab.write("assets/private/ward/letters.py", secret)
    assert lab.materialize(instance, "private/ward/letters/raw", "private/ward/letters/clean").success
    event = next(materializations(instance, asset_key("private/ward/letters/clean")))
    assert value_of(event, "class") == "private/ward"
    assert value_of(event, "dagster/row_count") == 26
    failing = secret.replace("letter.name.upper()", "{}[letter.name]")
    lab.write("assets/private/ward/letters.py", failing)
    result = lab.materialize(instance, "private/ward/letters/clean")
    assert "KeyError" in failure(result)
    run_ids = [record.dagster_run.run_id for record in instance.get_run_records()]
    said = "\n".join(str(entry) for run_id in run_ids for entry in instance.all_logs(run_id))
    assert "secret" not in said.lower().replace("asset", "")


def test_dagsters_retry_of_a_run_finds_its_build_and_does_not_repeat_it(lab: Lab, instance: dg.DagsterInstance) -> None:
    first = lab.materialize(instance, RAW)
    retry = {"dagster/parent_run_id": first.run_id, "dagster/root_run_id": first.run_id, "dagster/retry_number": "1"}
    assert lab.materialize(instance, RAW, tags=retry).success
    (run,) = runs(lab.namespace)
    assert len(Attempts(run.directory).all()) == 1
    assert len(list(materializations(instance, asset_key(RAW)))) == 2


def test_automation_does_not_undo_a_rollback_and_a_person_does(lab: Lab, instance: dg.DagsterInstance) -> None:
    assert lab.materialize(instance, RAW).success
    old = lab.namespace.resolve(RAW).version
    lab.write("assets/public/letters.py", LETTERS.replace('ord("a")', 'ord("A")'))
    assert lab.materialize(instance, RAW).success
    new = lab.namespace.resolve(RAW).version
    assert new != old
    Publications(lab.namespace, RAW).rollback(old, writer="ada", why="upper case is wrong")
    refused = lab.materialize(instance, RAW, tags={"factory/requester": "automation"})
    assert not refused.success
    assert "ada" in failure(refused)
    assert lab.namespace.resolve(RAW).version == old
    assert lab.materialize(instance, RAW).success
    assert lab.namespace.resolve(RAW).version == new


OVERTAKEN = '''
from pathlib import Path

from aifactory.datasets import dataset
from aifactory.namespace import Audit, Audits, Namespace, Publications, Staging

KEY = "public/overtaken/raw"


@dataset
def raw() -> Path:
    """While this is built, somebody who started later publishes."""
    ns = Namespace.open()
    for n in range(2):
        with Staging.start(ns, KEY, f"other{n}") as staging:
            (staging.path / "data").write_text(f"other {n}")
            snapshot, _ = staging.seal(kind="files")
        Audits(ns, KEY, snapshot.version).add(*(Audit(check=name, passed=True) for name in ("files", "not_empty")))
        Publications(ns, KEY).publish(
            snapshot.version, n, run=f"other{n}", writer="bob", build_key=f"{n}" * 64, inputs={}, code_version="1"
        )
    path = Path("own")
    path.write_text("own")
    return path
'''


def test_a_superseded_build_is_green_and_reports_what_is_current(lab: Lab, instance: dg.DagsterInstance) -> None:
    lab.write("assets/public/overtaken.py", OVERTAKEN)
    result = lab.materialize(instance, "public/overtaken/raw")
    assert result.success
    event = next(materializations(instance, asset_key("public/overtaken/raw")))
    assert value_of(event, "outcome") == "superseded"
    assert version(instance, "public/overtaken/raw") == lab.namespace.resolve("public/overtaken/raw").version
    assert Publications(lab.namespace, "public/overtaken/raw").number() == 2


def test_a_corrected_check_is_a_new_code_version_for_dagster_and_the_same_build(lab: Lab) -> None:
    before = lab.stages()[CLEAN]
    lab.write("assets/public/letters.py", LETTERS.replace('rows(26).named("all")', 'rows(25).named("all")'))
    after = lab.stages()[CLEAN]
    assert after.code_version == before.code_version
    assert shown_version(after) != shown_version(before)
    assert shown_version(after).startswith(after.code_version)
