"""A run's words in Dagster's log, few enough for its database: one line is one row there."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable

from aifactory.channel import Progress

LOG_SECONDS = 2.0
LOG_LINES = 40
PROGRESS_SECONDS = 5.0


class LiveLog:
    """Joins the driver's log into one event every two seconds, with at most 40 lines: the newest ones."""

    def __init__(self, say: Callable[[str], None], *, clock: Callable[[], float] = time.monotonic):
        self._say, self._clock = say, clock
        self._lines: deque[str] = deque(maxlen=LOG_LINES)
        self._skipped = 0
        self._rest = ""
        self._said = float("-inf")

    def feed(self, text: str) -> None:
        """Take a chunk of the log."""
        *lines, self._rest = (self._rest + text).split("\n")
        for line in lines:
            # A progress bar rewrites its line by carriage returns: its last state is the line.
            line = line.rstrip("\r").rsplit("\r", 1)[-1].rstrip()
            if line:
                self._skipped += len(self._lines) == LOG_LINES
                self._lines.append(line)
        if self._clock() - self._said >= LOG_SECONDS:
            self.flush()

    def tick(self) -> None:
        """Say what waits, if it has waited long enough."""
        if self._lines and self._clock() - self._said >= LOG_SECONDS:
            self.flush()

    def flush(self) -> None:
        """Say what waits."""
        if not self._lines:
            return
        head = [f"... {self._skipped} lines more in the attempt's log"] if self._skipped else []
        self._say("\n".join([*head, *self._lines]))
        self._lines.clear()
        self._skipped = 0
        self._said = self._clock()

    def close(self) -> None:
        """Say what is left, the last unfinished line included."""
        if self._rest:
            self.feed("\n")
        self.flush()


class LiveProgress:
    """Says progress at most every five seconds, and whenever its text changes."""

    def __init__(self, say: Callable[[str], None], *, clock: Callable[[], float] = time.monotonic):
        self._say, self._clock = say, clock
        self._said, self._text = float("-inf"), ""

    def feed(self, progress: Progress) -> None:
        done = progress.total is not None and progress.done >= progress.total
        if progress.text == self._text and not done and self._clock() - self._said < PROGRESS_SECONDS:
            return
        self._said, self._text = self._clock(), progress.text
        self._say(line(progress))


def line(progress: Progress) -> str:
    """`tokenize: 1,200 of 4,000 rows`; a text that says the amount itself stays as it is."""
    if not progress.done and progress.total is None:
        return progress.text
    plain = f"{progress.done} of {progress.total}"
    amount = f"{progress.done:,}" if progress.total is None else f"{progress.done:,} of {progress.total:,}"
    if plain in progress.text or amount in progress.text:
        return progress.text
    return f"{progress.text}: {amount} {progress.unit}".rstrip()
