from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aifactory.spec import Schedule
from aifactory.train.schedules import learning_rate


def rates(schedule: Schedule, steps: int) -> list[float]:
    return [learning_rate(schedule, 1.0, step, steps) for step in range(1, steps + 1)]


def test_warmup_is_linear_and_ends_at_the_peak() -> None:
    assert rates(Schedule(kind="constant", warmup=4), 6) == [0.25, 0.5, 0.75, 1.0, 1.0, 1.0]


def test_cosine_falls_to_the_minimum_at_the_last_step() -> None:
    found = rates(Schedule(kind="cosine", warmup=2, minimum=0.1), 12)
    assert found[1] == 1.0
    assert found[6] == pytest.approx(0.55)
    assert found[-1] == pytest.approx(0.1)


def test_wsd_stays_at_the_peak_and_falls_over_the_last_steps() -> None:
    found = rates(Schedule(kind="wsd", warmup=2, minimum=0.0, decay=4), 10)
    assert found[1:6] == [1.0] * 5
    assert found[6:] == pytest.approx([0.75, 0.5, 0.25, 0.0])


@given(
    kind=st.sampled_from(["cosine", "wsd", "constant"]),
    steps=st.integers(1, 400),
    warmup=st.integers(0, 100),
    minimum=st.floats(0, 1),
)
def test_a_rate_is_positive_up_to_the_peak_and_never_rises_after_the_warmup(
    kind: str, steps: int, warmup: int, minimum: float
) -> None:
    schedule = Schedule(kind=kind, warmup=min(warmup, steps - 1), minimum=minimum).resolved(steps)
    found = rates(schedule, steps)
    assert all(0 <= rate <= 1 + 1e-12 for rate in found)
    settled = found[max(0, schedule.warmup - 1) :]
    assert all(later <= earlier + 1e-12 for earlier, later in pairwise(settled))
