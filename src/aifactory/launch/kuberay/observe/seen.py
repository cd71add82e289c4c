"""What is said of an attempt on a cluster at one moment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal

from aifactory.channel.payloads import Failure
from aifactory.launch.runs.result import Outcome

Phase = Literal["queued", "starting", "running", "ended", "unknown"]


@dataclass(frozen=True)
class Seen:
    """`code` is one of `REASONS`; `text` one line with numbers and names of Kubernetes' own objects, never a word that
    came out of a container; `since` when it began to be so (UTC, ISO 8601). `outcome` and `failure` once it has ended:
    the failure's `trace` quotes what containers said, for public runs. `detail` is for incident.json. `state` holds
    what has to differ for a new line to be worth a row: the numbers of a quota flicker, one's place in it counts."""

    phase: Phase
    code: str
    text: str
    since: str | None = None
    outcome: Outcome | None = None
    failure: Failure | None = None
    detail: Mapping[str, Any] = field(default_factory=dict)
    state: tuple[str, ...] = ()

    def same(self, other: Seen | None) -> bool:
        """Whether nothing has changed that is worth a line."""
        return other is not None and self._key == other._key

    def line(self, now: datetime | None = None) -> str:
        """As a person reads it, with its age: `queued since 14:03 UTC (12 min): ...`."""
        age = _age(self.since, now or datetime.now(UTC))
        return f"{self.phase}{age}: {self.text}"

    @property
    def _key(self) -> tuple[str, ...]:
        return (self.phase, self.code, *(self.state or (self.text,)))


class Changes:
    """Which of what is seen is news."""

    def __init__(self) -> None:
        self.last: Seen | None = None

    def take(self, seen: Seen, now: datetime | None = None) -> str | None:
        """The line of `seen` if it is another state than the last one's."""
        if seen.same(self.last):
            return None
        self.last = seen
        return seen.line(now)


def parse_time(text: object) -> datetime | None:
    """A time of the API's JSON; None if there is none."""
    if not isinstance(text, str):
        return None
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def _age(since: str | None, now: datetime) -> str:
    began = parse_time(since)
    if began is None:
        return ""
    seconds = max(0, int((now - began).total_seconds()))
    told = f"{seconds} s" if seconds < 100 else f"{seconds // 60} min" if seconds < 6000 else f"{seconds / 3600:.0f} h"
    day = "" if began.date() == now.date() else f"{began:%Y-%m-%d} "
    return f" since {day}{began:%H:%M} UTC ({told})"
