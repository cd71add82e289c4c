"""Confidence intervals. No torch."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Z95 = 1.959963984540054
"""The two-sided 95 % point of the normal distribution."""
RESAMPLES = 1000


@dataclass(frozen=True)
class Interval:
    """A value and its 95 % confidence interval [low, high]."""

    value: float
    low: float
    high: float


def wilson(right: int, items: int) -> Interval:
    """The share `right / items` with Wilson's score interval, which holds near 0 and 1 and for few items too."""
    if not 0 <= right <= items or items == 0:
        raise ValueError(f"{right} of {items} items is no share")
    share, z2 = right / items, Z95**2
    centre = (share + z2 / (2 * items)) / (1 + z2 / items)
    half = Z95 * math.sqrt(share * (1 - share) / items + z2 / (4 * items**2)) / (1 + z2 / items)
    return Interval(share, max(0.0, min(share, centre - half)), min(1.0, max(share, centre + half)))


def bootstrap_ratio(
    above: npt.NDArray[np.float64], below: npt.NDArray[np.float64], seed: int, resamples: int = RESAMPLES
) -> Interval:
    """sum(above) / sum(below) over items, with the percentile bootstrap over items (the same for the same seed)."""
    if len(above) == 0 or below.sum() <= 0:
        raise ValueError("a ratio needs items that count")
    draws = np.random.Generator(np.random.PCG64(seed)).integers(0, len(above), size=(resamples, len(above)))
    totals = below[draws].sum(axis=1)
    ratios = above[draws].sum(axis=1) / np.where(totals > 0, totals, 1.0)
    low, high = np.quantile(ratios, [0.025, 0.975])
    value = float(above.sum() / below.sum())
    return Interval(value, float(min(low, value)), float(max(high, value)))
