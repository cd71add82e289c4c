"""No private value in Dagster: everything is run on data that is nothing but canaries, then every byte is searched."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest

from aifactory.orchestrate.keys import asset_key
from aifactory.orchestrate.reported import materializations, value_of
from tests.faults.canary import hits, planted, said
from tests.faults.canary_lab import FAILING
from tests.faults.ward import KEY, Ward, live, ward

pytestmark = pytest.mark.timeout(900)
"""Some twenty processes, of which five load torch: a busy machine takes minutes."""


def test_the_search_finds_every_spelling(tmp_path: Path) -> None:
    assert hits(tmp_path) == []
    for path in planted(tmp_path):
        assert hits(path), path.name


@pytest.fixture(scope="module")
def clinic(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ward]:
    with ward(tmp_path_factory.mktemp("clinic"), "private/clinic") as made:
        live(made)
        yield made


def test_the_same_rows_in_public_are_found(tmp_path: Path) -> None:
    with ward(tmp_path, "public") as made:
        made.build("all", "raw", "clean", "chained")
        assert {len(hits(place)) > 9 for place in (made.home, made.lab.namespace.root / "public")} == {True}


def test_everything_ran_as_it_was_to(clinic: Ward) -> None:
    ended = {what: result.success for what, result in clinic.results.items()}
    good = {"chain", "green", "crossed", "trained", "scored"}
    bad = {"failing", "uncrossed", "checked", "unscored", "untrained", "replayed", "refused"}
    assert ended == dict.fromkeys(good, True) | dict.fromkeys(bad, False)
    assert [len(list((clinic.home / "storage").rglob(f"*.{end}"))) > 5 for end in ("out", "err")] == [True, True]


def test_no_value_reaches_dagster_its_logs_or_the_public_tree(clinic: Ward) -> None:
    assert hits(clinic.home) == []
    assert hits(clinic.lab.namespace.root / "public") == []
    assert hits(clinic.lab.root.parent / "state") == []
    assert said("\n".join(clinic.said).encode()) == []


def test_what_crossed_is_told_nowhere_and_holds_no_value(clinic: Ward) -> None:
    assert hits(clinic.lab.namespace.resolve(clinic.key("crossed")).path) == []
    told = clinic.failures("uncrossed")["uncrossed"]
    assert "row 2 of the notes can't be read" in told
    for path in clinic.lab.namespace.root.rglob("*"):
        assert not path.is_file() or path.is_symlink() or KEY.encode() not in path.read_bytes(), path
    assert not [path for path in clinic.home.rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()]


def test_a_new_database_hears_no_value_either(clinic: Ward, tmp_path: Path) -> None:
    with dg.DagsterInstance.local_temp(str(tmp_path)) as instance:
        anew = Ward(clinic.lab, clinic.access, tmp_path, instance)
        anew.tick("journal_sync")
        told = next(materializations(instance, asset_key(clinic.key("clean"))))
        assert value_of(told, "publication") == 1
        assert said("\n".join(anew.said).encode()) == []
    assert hits(tmp_path) == []


def test_what_is_told_instead_is_the_type_the_place_and_the_row(clinic: Ward) -> None:
    told = clinic.failures("failing")
    notes = "assets/private/clinic/notes.py"
    assert set(told) == set(FAILING)
    for name, words in {
        "chained": ("ExceptionGroup", notes, "in chained", "row 1 of the output"),
        "typed": ("FactoryError", "code schema", "row 1 of the output"),
        "validated": ("ValidationError", notes, "in validated", "row 1 of clean"),
        "quits": ("SystemExit", notes, "in quits", "row 1 of clean"),
        "ours": ("FactoryError", notes, "in ours"),
        "killed": ("ended as lost: Lost: the process",),
        "red": ("is not published", "stops: seen 1"),
    }.items():
        assert all(word in told[name] for word in words), told[name]
    untrained = clinic.failures("untrained")["train"]
    assert "FactoryError: code integrity; at aifactory/namespace/snapshot.py:" in untrained
    assert "ended as failed_code: Exception: its text may quote private data" in clinic.failures("replayed")["train"]
    refused = clinic.failures("refused")["train"]
    assert "the blocking check not_empty of private/clinic/notes/ready" in refused
    assert "found: rows 3, other 1" in refused


def test_what_is_shown_of_a_snapshot_are_numbers_and_names_of_the_code(clinic: Ward) -> None:
    def shown(name: str) -> dict[str, object]:
        event = next(materializations(clinic.instance, asset_key(clinic.key(name))))
        return {one: value_of(event, one) for one in event.metadata}

    clean, columns = shown("clean"), shown("columns")
    assert clean["dagster/row_count"] == 60
    assert "| read | 60 |" in str(clean["counts"])
    assert "| other | 60 |" in str(clean["counts"])
    assert {"preview", "lengths", "file_names"}.isdisjoint(clean)
    schema = columns["dagster/column_schema"]
    assert isinstance(schema, dg.TableSchema)
    assert [(one.name, one.type) for one in schema.columns] == [
        ("column 1", "int64"),
        ("age", "int64"),
        ("deep", "struct"),
    ]


def test_the_whole_text_stands_in_the_private_runs_directory(clinic: Ward) -> None:
    runs = clinic.lab.namespace.root / clinic.access / "runs"
    # Nobody quotes the value of a row that does not fit: it stands in no text at all.
    for name in set(FAILING) - {"typed", "wide"}:
        (run,) = [one for one in runs.iterdir() if one.name.startswith(f"build-notes-{name}")]
        assert hits(run), name
    (run,) = [one for one in runs.iterdir() if one.name.startswith("build-notes-clean")]
    withheld = (run / "attempts" / "00000001" / "logs" / "withheld.jsonl").read_bytes()
    assert len(said(withheld)) > 3
