from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from aifactory.evaluate.sample import sample


@given(texts=st.lists(st.text(max_size=5)), items=st.integers(1, 30))
def test_a_sample_is_of_the_size_asked_for_in_the_order_of_the_rows(texts: list[str], items: int) -> None:
    found = sample(texts, items)
    assert found == sorted(set(found))
    assert len(found) == min(items, len(texts))


@given(texts=st.lists(st.text(max_size=5), min_size=1, unique=True), items=st.integers(1, 30), data=st.data())
def test_the_rows_that_are_chosen_do_not_depend_on_their_order(
    texts: list[str], items: int, data: st.DataObject
) -> None:
    other = data.draw(st.permutations(texts))
    assert {texts[n] for n in sample(texts, items)} == {other[n] for n in sample(other, items)}


@given(texts=st.lists(st.text(max_size=5), min_size=1, unique=True), items=st.integers(1, 30))
def test_one_more_row_takes_the_place_of_at_most_one(texts: list[str], items: int) -> None:
    before = {texts[n] for n in sample(texts, items)}
    grown = [*texts, "a text of its own"]
    assert len(before - {grown[n] for n in sample(grown, items)}) <= 1
