"""Since when an attempt waits, comes up and runs: kept in its directory, so that whoever adopts it counts on."""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import get_args

from aifactory.launch.runs.carrier import Phase
from aifactory.store import Journal, JournalConflict

FOLDER = "phases"


@dataclass(frozen=True)
class Entered:
    """The attempt came into `phase` at `at` (UTC, ISO 8601), for the reason `text`, on the Ray cluster `on`."""

    phase: Phase
    at: str
    text: str = ""
    on: str = ""

    @property
    def since(self) -> float:
        """As a value of this machine's monotonic clock."""
        ago = (datetime.now(UTC) - datetime.fromisoformat(self.at)).total_seconds()
        return time.monotonic() - max(0.0, ago)


class Phases:
    """A row for each change of phase of one attempt, whoever watched it."""

    def __init__(self, attempt_directory: Path):
        self._journal = Journal(attempt_directory / FOLDER)

    def all(self) -> list[Entered]:
        """Oldest first."""
        return [
            Entered(body["phase"], record.at, body.get("text", ""), body.get("on", ""))
            for record in self._journal.records()
            if (body := record.body)["phase"] in get_args(Phase)
        ]

    def enter(self, phase: Phase, *, writer: str, text: str = "", on: str = "") -> Entered:
        """Write it down, unless another watcher has done so: his row stands."""
        while True:
            rows = self.all()
            if rows and rows[-1].phase == phase:
                return rows[-1]
            try:
                record = self._journal.append({"phase": phase, "text": text, "on": on}, writer=writer, expect=len(rows))
            except JournalConflict:
                continue
            return Entered(phase, record.at, text, on)
