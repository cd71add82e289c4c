from __future__ import annotations

import dagster as dg

from aifactory.orchestrate.tables import histogram, metadata_value, table


def test_cells_cannot_break_out_of_the_table() -> None:
    text = table([{"a": "x|y\nz <script>", "b": 1_000}])
    assert text.splitlines() == ["| a | b |", "| --- | --- |", "| x\\|y z &lt;script> | 1,000 |"]


def test_long_cells_are_cut() -> None:
    assert len(table([{"a": "x" * 10_000}])) < 300


def test_rows_need_not_have_the_same_columns() -> None:
    assert "| 1 |  |" in table([{"a": 1}, {"b": 2}])


def test_bars_follow_the_counts() -> None:
    lines = histogram([("0-9", 1), ("10-19", 1000), ("20-29", 0)], "words").splitlines()
    bars = [line.count("█") for line in lines[2:]]
    assert bars == [1, 30, 0]


def test_values_find_their_shape() -> None:
    assert metadata_value("n", 3) == 3
    assert metadata_value("t", "text") == "text"
    assert metadata_value("f", True) == "true"
    assert metadata_value("e", {}) == "none"
    assert metadata_value("parts", {"train": {"rows": 1}}) == dg.MetadataValue.md(
        "| parts | rows |\n| --- | --- |\n| train | 1 |"
    )
    assert metadata_value("dropped", {"empty": 2}) == dg.MetadataValue.md(
        "| dropped | value |\n| --- | --- |\n| empty | 2 |"
    )
    assert metadata_value("odd", [1, 2]) == dg.MetadataValue.json([1, 2])
