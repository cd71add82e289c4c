from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aifactory.evaluate.intervals import bootstrap_ratio, wilson


def test_wilson_agrees_with_figures_worked_out_by_hand() -> None:
    found = wilson(10, 20)
    assert (found.value, found.low, found.high) == pytest.approx((0.5, 0.29930, 0.70070), abs=1e-5)
    none = wilson(0, 10)
    assert (none.low, none.high) == pytest.approx((0.0, 0.27753), abs=1e-5)


@given(items=st.integers(1, 2000), share=st.floats(0, 1))
def test_wilson_holds_the_share_and_stays_between_0_and_1(items: int, share: float) -> None:
    found = wilson(round(share * items), items)
    assert 0 <= found.low <= found.value <= found.high <= 1
    assert found.low < found.high


def test_wilson_refuses_what_is_no_share() -> None:
    with pytest.raises(ValueError, match="5 of 0"):
        wilson(5, 0)


def test_the_bootstrap_covers_the_truth_about_as_often_as_it_says() -> None:
    chance = np.random.default_rng(0)
    hits = 0
    for seed in range(100):
        below = chance.uniform(10, 50, 80)
        found = bootstrap_ratio(below * chance.normal(2.0, 0.3, 80), below, seed, resamples=300)
        hits += found.low <= 2.0 <= found.high
    assert 88 <= hits <= 100


def test_the_bootstrap_is_the_same_for_the_same_seed_and_holds_its_value() -> None:
    above, below = np.array([3.0, 5.0, 1.0]), np.array([1.0, 2.0, 1.0])
    found = bootstrap_ratio(above, below, 7)
    assert found == bootstrap_ratio(above, below, 7)
    assert found.low <= found.value == 2.25 <= found.high


def test_the_bootstrap_refuses_items_that_do_not_count() -> None:
    with pytest.raises(ValueError, match="items that count"):
        bootstrap_ratio(np.zeros(3), np.zeros(3), 0)
