"""The learning rate of a step. No torch."""

from __future__ import annotations

import math
from typing import Literal, Protocol


class ScheduleLike(Protocol):
    """`aifactory.spec`'s Schedule, resolved: `warmup` and `decay` in steps, `minimum` a fraction of the peak."""

    @property
    def kind(self) -> Literal["cosine", "wsd", "constant"]: ...
    @property
    def warmup(self) -> int: ...
    @property
    def minimum(self) -> float: ...
    @property
    def decay(self) -> int | None: ...


def learning_rate(schedule: ScheduleLike, peak: float, step: int, steps: int) -> float:
    """The rate of step `step` (1 ... `steps`): linear warmup to `peak`, reached at step `warmup`, then by kind.

    "cosine" is at `minimum * peak` at the last step; "wsd" stays at the peak and falls linearly over the last `decay`
    steps; "constant" stays.
    """
    if step <= schedule.warmup:
        return peak * step / schedule.warmup
    floor = schedule.minimum * peak
    match schedule.kind:
        case "constant":
            return peak
        case "wsd":
            decay = schedule.decay or 0
            past = step - (steps - decay)
            return peak if past <= 0 else peak + (floor - peak) * past / decay
        case "cosine":
            done = (step - schedule.warmup) / max(1, steps - schedule.warmup)
            return floor + (peak - floor) * 0.5 * (1.0 + math.cos(math.pi * done))
