"""The check kit on real snapshots: green, red with counts and a reason."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aifactory.datasets.checks import (
    Check,
    CheckResult,
    disjoint,
    files,
    no_nulls,
    not_empty,
    rows,
    schema,
    token_range,
    unique,
)
from aifactory.datasets.schema import columns_of
from aifactory.errors import FactoryError
from aifactory.namespace import Namespace, Snapshot, Staging


def snapshot(ns: Namespace, kind: str = "table", **parts: pa.Table) -> Snapshot:
    """Tables by part (`all` for none), in two shards each where they have the rows."""
    with Staging.start(ns, "public/words/clean", "build-x-000000000000") as staging:
        found = {}
        for part, table in parts.items():
            folder = staging.path / part
            folder.mkdir()
            half = table.num_rows // 2
            for n, piece in enumerate([table.slice(0, half), table.slice(half)]):
                pq.write_table(piece, folder / f"rows-{n}.parquet")
                found[f"{part}/rows-{n}.parquet"] = (piece.num_rows, None if part == "all" else part)
        columns = columns_of(next(iter(parts.values())).schema)
        sealed, _ = staging.seal(kind=kind, columns=columns, rows=found)  # type: ignore[arg-type]
    return sealed


def table(*ids: int | None, groups: list[str] | None = None) -> pa.Table:
    return pa.table({"id": pa.array(ids, pa.int64()), "group": groups or [f"g{n}" for n in ids]})


def test_rows_exact_and_in_a_range(ns: Namespace) -> None:
    found = snapshot(ns, all=table(1, 2, 3))
    assert rows(3).run(found) == CheckResult(True, {"rows": 3, "min": 3, "max": 3}, "3 rows")
    assert rows(min=1, max=5).run(found).passed
    assert rows(4).run(found) == CheckResult(False, {"rows": 3, "min": 4, "max": 4}, "3 rows, expected 4")
    assert rows(min=4).run(found).reason == "3 rows, expected at least 4"
    assert rows(max=2).run(found).reason == "3 rows, expected at most 2"


@pytest.mark.parametrize("wrong", [{}, {"exact": 3, "min": 1}])
def test_rows_without_or_with_both_kinds_of_limits(wrong: dict[str, int]) -> None:
    with pytest.raises(FactoryError):
        rows(**wrong)


def test_not_empty_names_the_empty_part(ns: Namespace) -> None:
    assert not_empty().run(snapshot(ns, all=table(1))).passed
    empty = not_empty().run(snapshot(ns, all=table()))
    assert (empty.passed, empty.reason) == (False, "no rows")
    part = not_empty().run(snapshot(ns, train=table(1), val=table()))
    assert (part.passed, part.counts, part.reason) == (False, {"rows_train": 1, "rows_val": 0}, "no rows in val")


def test_unique_counts_the_repeats(ns: Namespace) -> None:
    found = snapshot(ns, all=table(1, 2, 2, 2, None, groups=list("aabbc")))
    red = unique("id").run(found)
    assert (red.passed, red.counts) == (False, {"rows": 5, "distinct": 3, "duplicates": 2})
    assert red.reason == "2 of 5 rows repeat the id of another"
    assert unique("id", "group").run(found).counts["duplicates"] == 1


@settings(max_examples=30, deadline=None)
@given(st.lists(st.one_of(st.none(), st.text(max_size=2)), max_size=40))
def test_unique_agrees_with_a_set(values: list[str | None]) -> None:
    from hashlib import blake2b

    import numpy as np

    from aifactory.datasets.checks.reading import distinct

    digests = b"".join(blake2b(repr((value,)).encode(), digest_size=16).digest() for value in values)
    pairs = np.frombuffer(digests, dtype=np.uint64).reshape(-1, 2)
    assert len(distinct(pairs)) == len(set(values))


def test_disjoint_counts_shared_groups_by_pair(ns: Namespace) -> None:
    found = snapshot(
        ns,
        train=table(1, 2, 3, groups=list("abc")),
        val=table(4, 5, groups=list("dc")),
        test=table(6, 7, groups=list("ab")),
    )
    red = disjoint("group").run(found)
    assert not red.passed
    assert {name: n for name, n in red.counts.items() if name.startswith("shared")} == {
        "shared_train_val": 1,
        "shared_train_test": 2,
        "shared_val_test": 0,
    }
    assert "train test" in red.reason
    green = disjoint("id").run(found)
    assert green.passed
    assert green.counts["groups_train"] == 3
    assert not disjoint("id").run(snapshot(ns, all=table(1))).passed
    assert disjoint("id").run(snapshot(ns, train=table(1, 2))).passed


def test_no_nulls_names_column_and_number(ns: Namespace) -> None:
    found = snapshot(ns, all=table(1, None, None))
    assert no_nulls("group").run(found).passed
    assert no_nulls("id", "group").run(found).reason == "2 of 3 rows have no id"


def test_schema_names_column_and_both_types(ns: Namespace) -> None:
    found = snapshot(ns, all=table(1, 2))
    assert schema(pa.schema([("id", pa.int64()), ("group", pa.string())])).run(found).passed
    wrong = schema(pa.schema([("id", pa.string()), ("more", pa.string())])).run(found)
    assert wrong.counts["faults"] == 3
    assert "column id: found int64, expected string" in wrong.reason
    assert "column more is missing" in wrong.reason
    assert "column group is not declared" in wrong.reason
    order = schema(pa.schema([("group", pa.string()), ("id", pa.int64())])).run(found)
    assert "columns stand as id, group" in order.reason
    strict = schema(pa.schema([pa.field("id", pa.int64(), nullable=False), ("group", pa.string())])).run(found)
    assert "expected not null" in strict.reason


def test_files_sees_a_flipped_byte_and_a_missing_file(ns: Namespace) -> None:
    found = snapshot(ns, all=table(1, 2))
    assert files().run(found).passed
    path = found.paths()[0]
    path.chmod(0o644)
    data = bytearray(path.read_bytes())
    data[10] ^= 1
    path.write_bytes(data)
    red = files().run(found)
    assert not red.passed
    assert path.name in red.reason
    assert "sha256" in red.reason


def test_token_range_counts_ids_that_the_vocabulary_lacks(ns: Namespace) -> None:
    from aifactory.data.indexed import IndexedWriter

    with Staging.start(ns, "public/words/ready", "build-x-000000000000") as staging:
        with IndexedWriter(staging.path / "train/tokens-00000", 100) as writer:
            writer.add([1, 2, 99])
            writer.add([50, 98])
        (staging.path / "tokens.json").write_text('{"vocabulary": 100}')
        sealed, _ = staging.seal(kind="tokens", rows={"train/tokens-00000.bin": (None, "train")})
    assert token_range().run(sealed).counts == {"tokens": 5, "out_of_range": 0, "largest": 99, "vocabulary": 100}
    red = token_range(98).run(sealed)
    assert (red.passed, red.reason) == (False, "2 of 5 token ids are not below 98")


def test_a_check_of_a_column_that_is_not_there_raises(ns: Namespace) -> None:
    with pytest.raises(FactoryError, match="grop") as caught:
        unique("grop").run(snapshot(ns, all=table(1)))
    assert caught.value.code == "unknown_column"


def test_a_check_is_found_again_by_its_kind_and_parameters(ns: Namespace) -> None:
    found = snapshot(ns, all=table(1, 2))
    for check in (rows(2), unique("id"), no_nulls("id"), files(), not_empty()):
        assert Check(check.name, check.kind, check.parameters).run(found).passed
    with pytest.raises(FactoryError, match="no check of kind"):
        Check("x", "nothing").run(found)


def test_names_and_parameters_are_checked_when_it_is_declared() -> None:
    with pytest.raises(FactoryError, match="no usable name"):
        rows(1).named("two words")
    with pytest.raises(FactoryError, match="not JSON"):
        Check("x", "rows", {"min": float("nan")})


CHECKS = """
    from collections.abc import Iterator
    from dataclasses import dataclass
    from pathlib import Path
    import pyarrow as pa
    from aifactory.datasets import CheckResult, check
    from aifactory.namespace import Snapshot

    @dataclass
    class Row:
        id: int
        group: str

    @check
    def short(table: pa.Table, column: str, most: int = 2) -> CheckResult:
        "Values are short."
        long = sum(len(value) > most for value in table[column].to_pylist())
        return CheckResult(long == 0, {"long": long}, f"{long} are longer than {most}")

    @check(blocking=False)
    def streamed(batches: Iterator[pa.RecordBatch]) -> bool:
        return sum(batch.num_rows for batch in batches) == 3

    @check
    def typed(rows: Iterator[Row]) -> bool:
        return [row.id for row in rows] == [1, 2, 3]

    @check
    def whole(snapshot: Snapshot) -> bool:
        return snapshot.manifest.rows == 3

    @check
    def folder(path: Path) -> bool:
        return (path / "manifest.json").is_file()

    @check
    def bare(anything) -> bool:
        return True

    @check
    def nothing(table: pa.Table) -> CheckResult:
        return None
"""


def test_own_checks_read_what_their_first_parameter_says(lab, ns: Namespace) -> None:
    lab.write({"checks/words.py": textwrap.dedent(CHECKS), "assets/public/a.py": ""})
    lab.find()
    from checks import words  # type: ignore[import-not-found]

    found = snapshot(ns, all=table(1, 2, 3))
    for made in (words.short("group"), words.streamed(), words.typed(), words.whole(), words.folder()):
        assert made.run(found).passed, made.name
        assert Check(made.name, made.kind, made.parameters).run(found).passed
    check = words.short("group", most=1)
    assert (check.name, check.kind) == ("short_group", "checks.words:short")
    assert dict(check.parameters) == {"column": "group", "most": 1}
    assert check.description == "Values are short."
    assert check.run(found) == CheckResult(False, {"long": 3}, "3 are longer than 1")
    assert not words.streamed().blocking
    with pytest.raises(FactoryError, match="no annotation"):
        words.bare().run(found)
    with pytest.raises(FactoryError, match="neither a CheckResult nor a bool"):
        words.nothing().run(found)
    with pytest.raises(TypeError):
        words.short()


def test_a_changed_check_has_another_version(lab) -> None:
    from aifactory.datasets.checks.registry import version_of

    lab.write({"assets/public/a.py": ""})
    versions = set()
    for limit in (2, 3):
        lab.write({"checks/words.py": textwrap.dedent(CHECKS).replace("most: int = 2", f"most: int = {limit}")})
        lab.find()
        versions.add(version_of("checks.words:short"))
    assert len(versions) == 2


def test_reports_do_nothing_outside_a_build(tmp_path: Path) -> None:
    from aifactory.datasets import count, drop
    from aifactory.datasets.report import reporting

    count("rows")
    drop("blank")
    with reporting() as report:
        count("rows", 2)
        drop("blank")
        drop("blank", 3)
    drop("blank")
    assert (dict(report.counts), dict(report.dropped)) == ({"rows": 2}, {"blank": 4})
