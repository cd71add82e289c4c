"""What the reaper does: both ways, with grace, and never to a run that somebody may want."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aifactory.launch.reaping import UNKNOWN_SECONDS, UNWANTED_SECONDS, Held, Known, actions

RUN = "train-tiny-000000000001"
OLD = UNKNOWN_SECONDS + 1
JOB = Held("RayJob", f"{RUN}-1", RUN, 1, OLD, "a" * 64)
LIVE = Known(RUN, 1, None, made=True, age=OLD)


def said(held: Iterable[Held], *known: Known) -> list[tuple[str, str]]:
    return [(one.what, one.kind) for one in actions(held, {one.run: one for one in known})]


@pytest.mark.parametrize(
    ("held", "known", "does"),
    [
        (JOB, LIVE, []),
        (JOB, replace(LIVE, outcome="cancelled"), [("delete", "RayJob")]),
        (JOB, replace(LIVE, outcome="cancelled", age=1.0), []),
        (JOB, replace(LIVE, attempt=2, age=1.0), [("delete", "RayJob")]),
        (replace(JOB, age=1.0), replace(LIVE, attempt=2, age=1.0), []),
        (JOB, replace(LIVE, unwanted=1.0), [("report", "RayJob")]),
        (JOB, replace(LIVE, unwanted=UNWANTED_SECONDS + 1), [("stop", "RayJob")]),
        (JOB, None, [("delete", "RayJob")]),
        (replace(JOB, age=1.0), None, [("report", "RayJob")]),
        (None, LIVE, [("lost", "RayJob")]),
        (None, replace(LIVE, ended="succeeded"), [("lost", "RayJob")]),
        (None, replace(LIVE, made=False), []),
        (None, replace(LIVE, age=1.0), []),
        (None, replace(LIVE, outcome="succeeded"), []),
    ],
)
def test_a_rayjob_and_a_run_are_compared_both_ways(
    held: Held | None, known: Known | None, does: list[tuple[str, str]]
) -> None:
    assert said([held] if held else [], *([known] if known else [])) == does


@pytest.mark.parametrize("kind", ["Secret", "ConfigMap", "RayCluster"])
def test_what_no_rayjob_will_take_along_is_swept_once_it_is_old(kind: str) -> None:
    stale = Held(kind, f"{RUN}-1-token", RUN, 1, OLD)
    ended = replace(LIVE, outcome="succeeded")
    assert said([stale], ended) == [("sweep", kind)]
    assert said([stale, JOB], LIVE) == []
    assert said([replace(stale, owned=True)], ended) == []
    assert said([replace(stale, age=1.0)], ended) == []


@given(age=st.floats(0, 1e7), made=st.booleans(), run_age=st.floats(0, 1e7), attempt=st.integers(1, 3))
def test_a_run_that_lives_and_is_wanted_is_never_touched(age: float, made: bool, run_age: float, attempt: int) -> None:
    job = Held("RayJob", f"{RUN}-{attempt}", RUN, attempt, age, "a" * 64)
    assert actions([job], {RUN: Known(RUN, attempt, None, made, run_age)}) == []
