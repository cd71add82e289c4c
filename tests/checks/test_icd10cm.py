from __future__ import annotations

import pyarrow as pa

from checks.icd10cm import chapter_count, leaves, one_chapter_per_category

GOOD = pa.table(
    {
        "code": ["1", "A00", "A00.0", "2", "C00.1"],
        "category": ["1", "A00", "A00", "2", "C00"],
        "chapter": ["x", "x", "x", "y", "y"],
        "leaf": [False, False, True, False, True],
    }
)


def changed(column: str, row: int, value: object) -> pa.Table:
    values = GOOD[column].to_pylist()
    values[row] = value
    return GOOD.set_column(GOOD.column_names.index(column), column, [values])


def test_chapters_are_counted() -> None:
    assert chapter_count.function(GOOD, 2).passed
    result = chapter_count.function(GOOD, 22)
    assert (result.passed, result.counts) == (False, {"chapters": 2, "expected": 22})


def test_leaves_are_counted_and_one_outside_of_its_category_is_seen() -> None:
    assert leaves.function(GOOD, 2).passed
    assert leaves.function(changed("category", 1, "B00"), 2).passed
    assert not leaves.function(GOOD, 3).passed
    result = leaves.function(changed("category", 2, "B00"), 2)
    assert (result.passed, result.counts) == (False, {"leaves": 2, "expected": 2, "outside": 1})
    assert leaves.function(GOOD.slice(0, 2), 0).passed


def test_a_category_in_two_chapters_is_seen() -> None:
    assert one_chapter_per_category.function(GOOD).passed
    result = one_chapter_per_category.function(changed("chapter", 2, "y"))
    assert (result.passed, result.counts) == (False, {"categories": 4, "in_two": 1})
