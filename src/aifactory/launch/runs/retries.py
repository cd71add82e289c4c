"""Whether a launch goes on with another attempt after one that it watched to its end."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict, Field

from aifactory.launch.runs.attempts import Attempt
from aifactory.launch.runs.result import TRY_AGAIN

PREEMPTED = "preempted"
AGAIN = TRY_AGAIN | {"failed_code"}


class Retries(BaseModel):
    """How many attempts more a run gets by itself: after it was preempted, and after the infrastructure failed under it
    (or lost it), each counted over the whole run. `wait_seconds`: before each but the first that follows a failure,
    longer each time."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    preempted: int = Field(default=0, ge=0)
    infrastructure: int = Field(default=0, ge=0)
    wait_seconds: float = Field(default=0.0, ge=0)


def tries_taken(history: Sequence[Attempt]) -> int:
    """Attempts that count against a launch's `tries`: one that had to make room does not."""
    return sum(1 for one in history if one.outcome != PREEMPTED)


def goes_on(history: Sequence[Attempt], *, tries: int, retries: Retries) -> bool:
    """`history` is every attempt of the run, the newest of which has just ended. Cancelled, over a deadline or refused:
    never; failed by its code: while `tries` are left; else while its own budget lasts."""
    newest = history[-1]
    if newest.outcome not in AGAIN:
        return False
    if newest.outcome == PREEMPTED:
        return sum(1 for one in history if one.outcome == PREEMPTED) <= retries.preempted
    if newest.outcome in TRY_AGAIN and failures(history) <= retries.infrastructure:
        return True
    return tries_taken(history) < tries


def failures(history: Sequence[Attempt]) -> int:
    """How many attempts the infrastructure has failed or lost."""
    return sum(1 for one in history if one.outcome in TRY_AGAIN and one.outcome != PREEMPTED)


def pause(history: Sequence[Attempt], retries: Retries) -> float:
    """Seconds to wait before the next attempt: none after a preemption, then one, two, four times `wait_seconds`."""
    if history[-1].outcome == PREEMPTED or history[-1].outcome not in TRY_AGAIN:
        return 0.0
    return retries.wait_seconds * float(2 ** min(failures(history) - 1, 5))
