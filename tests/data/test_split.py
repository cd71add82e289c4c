from __future__ import annotations

from collections import Counter

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aifactory.data.split import PARTS, part_of, parts_of
from aifactory.errors import FactoryError

SHARES = {"train": 0.9, "val": 0.05, "test": 0.05}


@given(st.lists(st.text(), max_size=30), st.lists(st.text(), max_size=30), st.integers(0, 99))
def test_adding_rows_moves_no_old_row(old: list[str], new: list[str], seed: int) -> None:
    before = parts_of(pa.array(old, pa.string()), SHARES, seed).to_pylist()
    after = parts_of(pa.array(new + old, pa.string()), SHARES, seed).to_pylist()
    assert after[len(new) :] == before


@given(st.lists(st.one_of(st.sampled_from("abc"), st.text()), min_size=1), st.integers(0, 9))
def test_a_column_is_divided_as_its_values_are_and_groups_stay_together(groups: list[str], seed: int) -> None:
    parts = parts_of(pa.array(groups), SHARES, seed).to_pylist()
    assert parts == [part_of(group, SHARES, seed) for group in groups]
    assert len(set(zip(groups, parts, strict=True))) == len(set(groups))


@given(st.text(), st.floats(0.5, 0.8), st.integers(0, 9))
def test_a_larger_train_share_takes_no_group_out_of_train(group: str, train: float, seed: int) -> None:
    if part_of(group, {"train": train, "val": 1 - train}, seed) == "train":
        assert part_of(group, {"train": train + 0.1, "test": 0.9 - train}, seed) == "train"


@given(st.text(), st.permutations(list(SHARES)))
def test_the_order_of_the_shares_does_not_matter(group: str, order: list[str]) -> None:
    assert part_of(group, {part: SHARES[part] for part in order}) == part_of(group, SHARES)


def test_parts_have_about_their_shares_and_depend_on_the_seed() -> None:
    groups = pa.array([f"group {n}" for n in range(20_000)])
    parts = parts_of(groups, SHARES)
    counts = Counter(parts.to_pylist())
    assert {part: round(counts[part] / len(groups), 2) for part in PARTS} == SHARES
    assert parts != parts_of(groups, SHARES, seed=1)


def test_assignments_are_the_same_forever() -> None:
    assert [part_of(f"A{n:02d}", SHARES) for n in (30, 34, 48, 72)] == ["train", "val", "test", "val"]


def test_chunks_integers_and_all_in_one_part_work() -> None:
    chunked = pa.chunked_array([["a", "b"], ["a"]])
    parts = parts_of(chunked, SHARES).to_pylist()
    assert parts[0] == parts[2]
    assert parts_of(pa.array([1, 2]), SHARES).to_pylist() == [part_of(1, SHARES), part_of("2", SHARES)]
    assert set(parts_of(pa.array(["a", "b", "c"]), {"test": 1.0}).to_pylist()) == {"test"}
    assert parts_of(pa.array([], pa.string()), SHARES).to_pylist() == []


@pytest.mark.parametrize(
    "shares", [{}, {"train": 0.5}, {"train": 1.2, "val": -0.2}, {"train": 0.5, "dev": 0.5}, {"train": float("nan")}]
)
def test_shares_that_divide_nothing_are_refused(shares: dict[str, float]) -> None:
    with pytest.raises(FactoryError, match="not a division") as error:
        part_of("a", shares)
    assert error.value.code == "shares"


@pytest.mark.parametrize("column", [pa.array(["a", None]), pa.array([1.5]), pa.array([True])])
def test_a_column_without_a_group_for_every_row_is_refused(column: pa.Array) -> None:
    with pytest.raises(FactoryError, match="group column") as error:
        parts_of(column, SHARES)
    assert error.value.code == "group"
