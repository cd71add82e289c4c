"""The attempts of a run: journaled before each launch and at each end, and what follows from them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from aifactory.channel import Closed, Commands, Process, Reader
from aifactory.channel.payloads import Failure
from aifactory.channel.redact import safe_failure
from aifactory.channel.safe import is_private
from aifactory.errors import FactoryError
from aifactory.launch.runs.names import attempt_name, job_name
from aifactory.launch.runs.result import TRY_AGAIN, Outcome
from aifactory.launch.runs.session import end
from aifactory.store import Journal, JournalConflict

Decision = Literal["replay", "adopt", "report", "new"]
LOCAL = "local"


@dataclass(frozen=True)
class Attempt:
    """One try. `outcome` is None until its end is recorded; times are UTC, ISO 8601."""

    number: int
    backend: str
    job: str
    spec: str
    started: str
    outcome: Outcome | None = None
    error: Failure | None = None
    ended: str | None = None


class Attempts:
    """The attempts of the run in `directory`."""

    def __init__(self, directory: Path):
        self.directory = directory / "attempts"
        self.run = directory.name
        self._journal = Journal(self.directory / "@journal")

    def path(self, number: int) -> Path:
        """The directory of an attempt: its messages, commands, logs, process."""
        return self.directory / attempt_name(number)

    def all(self) -> list[Attempt]:
        """Oldest first. Raises FactoryError, code "journal", for a damaged journal."""
        return self._read()[0]

    def newest(self) -> Attempt | None:
        attempts = self.all()
        return attempts[-1] if attempts else None

    def start(self, *, backend: str, spec: str, writer: str, after: Attempt | None) -> Attempt | None:
        """Record the next attempt, whose directory then exists; None if somebody else has changed the journal since
        `after` was the newest."""
        attempts, last = self._read()
        newest = attempts[-1] if attempts else None
        if newest != after:
            return None
        number = 1 if after is None else after.number + 1
        self.path(number).mkdir(parents=True, exist_ok=True)
        job = job_name(self.run, number)
        body = {"event": "start", "attempt": number, "backend": backend, "job": job, "spec": spec}
        try:
            record = self._journal.append(body, writer=writer, expect=last)
        except JournalConflict:
            return None
        return Attempt(number, backend, job, spec, record.at)

    def end(self, number: int, outcome: Outcome, *, writer: str, error: Failure | None = None) -> Attempt:
        """Record how attempt `number` ended, unless that is recorded already: the first record stands."""
        while True:
            attempts, last = self._read()
            attempt = attempts[number - 1]
            if attempt.outcome is not None:
                return attempt
            body = {"event": "end", "attempt": number, "outcome": outcome}
            if error is not None:
                body["error"] = error.model_dump()
            try:
                self._journal.append(body, writer=writer, expect=last)
            except JournalConflict:
                continue

    def settle(self, *, writer: str, clear: Callable[[Attempt], None] | None = None) -> Attempt | None:
        """The newest attempt. One that has ended while nobody watched is recorded as ended first, and what it has left
        running is ended: by `clear`, or the processes of this machine. None: there is none."""
        newest = self.newest()
        if newest is None or newest.outcome is not None:
            return newest
        seen = self.ended_by_itself(newest)
        if seen is None:
            return newest
        if clear is not None:
            clear(newest)
        else:
            path = self.path(newest.number)
            end(Process.load(path), path)
        return self.end(newest.number, seen[0], writer=writer, error=seen[1])

    def ended_by_itself(self, attempt: Attempt) -> tuple[Outcome, Failure | None] | None:
        """How an attempt without a recorded end has ended, from its own files; None while it lives or may still begin.

        Succeeded, failed_code or cancelled by its last message; lost if its process is gone and there is none, or the
        messages are damaged; preempted if a cluster told it to end and nobody else. A process of another machine can't
        be looked for: its backend is asked by who watches it.
        """
        path = self.path(attempt.number)
        process = Process.load(path) if attempt.backend == LOCAL else None
        gone = process is not None and process.seen() == "gone"
        # Read after that look: what has gone says nothing more.
        closed = self._closed(path)
        if isinstance(closed, Closed):
            if closed.outcome == "cancelled" and attempt.backend != LOCAL and not Commands(path).asked_to_stop():
                return "preempted", made_room()
            return closed.outcome, closed.error
        if not gone:
            return None
        return "lost", closed or Failure(type="Lost", text="the process is gone without a last message", code="lost")

    def _closed(self, path: Path) -> Closed | Failure | None:
        reader = Reader(path)
        try:
            reader.new()
        except FactoryError as error:
            return reader.damage(error)
        return reader.closed

    def _read(self) -> tuple[list[Attempt], int]:
        attempts: list[Attempt] = []
        number = 0
        for record in self._journal.records():
            number = record.n
            body = record.body
            if body["event"] == "start":
                attempts.append(Attempt(body["attempt"], body["backend"], body["job"], body["spec"], record.at))
            else:
                old = attempts[body["attempt"] - 1]
                error = Failure.model_validate(body["error"]) if body.get("error") else None
                if error is not None and is_private(self.directory.parent):
                    error = safe_failure(error)
                attempts[body["attempt"] - 1] = Attempt(
                    old.number, old.backend, old.job, old.spec, old.started, body["outcome"], error, record.at
                )
        return attempts, number


def made_room() -> Failure:
    """Of an attempt on a cluster whose driver was told to end, and not by a command: its pods had to go."""
    text = "its driver was told to end, and nobody had asked this run to stop: its pods had to go"
    return Failure(type="Preempted", text=text, code="preempted")


def decide(newest: Attempt | None, *, tries: int = 1) -> Decision:
    """What a launch does, given the newest attempt with its end recorded if it has ended.

    Succeeded: replay its messages and launch nothing. Not ended: adopt it. Its code failed and it was not the last of
    `tries`, or it was preempted, lost, or never came up: a new attempt. Else report how it ended.
    """
    if newest is None:
        return "new"
    if newest.outcome is None:
        return "adopt"
    if newest.outcome == "succeeded":
        return "replay"
    if newest.outcome in TRY_AGAIN or (newest.outcome == "failed_code" and newest.number < tries):
        return "new"
    return "report"
