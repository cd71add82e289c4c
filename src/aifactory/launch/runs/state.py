"""The state of a live attempt, for people who look from outside: replaced with each change that is told."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

FILE = "state.json"


@dataclass(frozen=True)
class State:
    """`phase`, the `code` of the reason, its words, and since when (UTC, ISO 8601, "" where nothing tells)."""

    phase: str
    code: str
    text: str
    since: str = ""

    def save(self, attempt_directory: Path) -> None:
        """A view, never a record: that it can't be written is no error."""
        part = attempt_directory / f".{FILE}-{os.getpid()}"
        with suppress(OSError):
            part.write_text(json.dumps(asdict(self)))
            part.replace(attempt_directory / FILE)

    @classmethod
    def load(cls, attempt_directory: Path) -> State | None:
        """None if there is none, or it can't be read."""
        try:
            found = json.loads((attempt_directory / FILE).read_text())
            return cls(*(str(found[name]) for name in ("phase", "code", "text", "since")))
        except (OSError, ValueError, KeyError, TypeError):
            return None
