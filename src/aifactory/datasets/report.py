"""How a stage's function says what it kept and what it dropped, and why, while it runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

_current: ContextVar[Report | None] = ContextVar("aifactory_report", default=None)


@dataclass
class Report:
    """Counts of one build: `counts` by name, `dropped` by reason (words of the code, never values of rows)."""

    counts: Counter[str] = field(default_factory=Counter)
    dropped: Counter[str] = field(default_factory=Counter)


def count(name: str, n: int = 1) -> None:
    """Add `n` to the count called `name`; it lands in the build's metadata. Does nothing outside a build."""
    report = _current.get()
    if report is not None:
        report.counts[name] += n


def drop(reason: str, n: int = 1) -> None:
    """Say that `n` rows were dropped for `reason` (a word of the code, never a value of the row). Does nothing outside
    a build."""
    report = _current.get()
    if report is not None:
        report.dropped[reason] += n


@contextmanager
def reporting() -> Iterator[Report]:
    """Collect what `count` and `drop` are told inside the block."""
    report = Report()
    token = _current.set(report)
    try:
        yield report
    finally:
        _current.reset(token)
