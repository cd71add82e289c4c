"""Writes an attempt's messages: one process (rank 0), one file per message, on disk before `send` returns."""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Self

from aifactory.channel.cancel import Cancelled
from aifactory.channel.message import Message
from aifactory.channel.payloads import Closed, ClosedOutcome, Failure, Payload, Progress
from aifactory.channel.redact import redacted
from aifactory.channel.safe import is_private, safe
from aifactory.errors import FactoryError
from aifactory.store import Journal, JournalConflict

PROGRESS_SECONDS = 0.5


class Writer:
    """The messages of the attempt whose directory is `attempt_directory` (its name is the attempt's number).

    Progress is sent at most twice a second: one that comes sooner waits, replaced by the next, and is sent by `flush`,
    by the next message of another type, or by `close`. Safe to use from several threads. As a context manager it
    closes: succeeded, or failed_code with the exception, which is not swallowed.

    Of a `private` run (by its place, unless it is said) a message tells numbers and names of the code; one that was
    cut stands whole in the attempt's `logs/withheld.jsonl`.
    """

    def __init__(self, attempt_directory: Path, *, attempt: int | None = None, private: bool | None = None):
        name = attempt_directory.name
        self.attempt = attempt if attempt is not None else int(name) if name.isdigit() else 1
        self._journal = Journal(attempt_directory / "messages")
        self._private = is_private(attempt_directory.parents[1]) if private is None else private
        self._withheld = attempt_directory / "logs" / "withheld.jsonl"
        self._lock = threading.RLock()
        self._waiting: Progress | None = None
        self._sent_progress = float("-inf")
        last = self._journal.last()
        self._count = 0 if last is None else last.n
        self._closed = last is not None and last.body.get("method") == "closed"

    @property
    def count(self) -> int:
        """How many messages are on disk."""
        return self._count

    @property
    def closed(self) -> bool:
        return self._closed

    def send(self, payload: Payload) -> None:
        """Put the message on disk. Raises FactoryError: "closed" after the end, "disk_full" and such from the store."""
        with self._lock:
            if isinstance(payload, Closed):
                raise FactoryError("a writer closes its channel by close(), which counts the messages", code="channel")
            self._refuse_closed()
            if isinstance(payload, Progress):
                if time.monotonic() - self._sent_progress < PROGRESS_SECONDS:
                    self._waiting = payload
                    return
                self._waiting = None
                self._sent_progress = time.monotonic()
            else:
                self._send_waiting()
            self._append(payload)

    def flush(self) -> None:
        """Send the progress that waits, if it has waited long enough. Called now and then by the entrypoint."""
        with self._lock:
            if not self._closed and time.monotonic() - self._sent_progress >= PROGRESS_SECONDS:
                self._send_waiting()

    def close(self, outcome: ClosedOutcome, error: Failure | None = None) -> None:
        """Send the last message; nothing may follow it."""
        with self._lock:
            self._refuse_closed()
            while True:
                self._resume()
                try:
                    self._send_waiting()
                    self._append(Closed(count=self._count + 1, outcome=outcome, error=error))
                except JournalConflict:
                    continue  # a worker that is being ended had one more word; after this one it has none
                self._closed = True
                return

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._closed:
            return
        if error is None:
            self.close("succeeded")
        else:
            outcome: ClosedOutcome = "cancelled" if isinstance(error, Cancelled) else "failed_code"
            if self._private:
                self._keep(redacted(error, private=False))
            self.close(outcome, redacted(error, private=self._private))

    def _send_waiting(self) -> None:
        waiting, self._waiting = self._waiting, None
        if waiting is not None:
            self._sent_progress = time.monotonic()
            self._append(waiting)

    def _append(self, payload: Payload) -> None:
        if self._private and (shown := safe(payload)) != payload:
            self._keep(payload)
            payload = shown
        seq = self._count + 1
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        message = Message.of(payload, seq=seq, attempt=self.attempt, time=now)
        self._journal.append(message.body(), writer=f"attempt-{self.attempt}", expect=seq - 1)
        self._count = seq

    def _keep(self, whole: Payload | Failure) -> None:
        # On a full disk the message itself says so.
        with suppress(OSError):
            self._withheld.parent.mkdir(parents=True, exist_ok=True)
            with self._withheld.open("a", encoding="utf-8") as file:
                file.write(whole.model_dump_json() + "\n")

    def _resume(self) -> None:
        # A cancellation is raised by a signal handler, so it may have come between the append and the count.
        last = self._journal.last()
        self._count = 0 if last is None else last.n
        if last is not None and last.body.get("method") == "closed":
            self._closed = True
            self._refuse_closed()

    def _refuse_closed(self) -> None:
        if self._closed:
            raise FactoryError(
                f"the channel of attempt {self.attempt} is closed, nothing may follow",
                fix="send every message before close()",
                code="closed",
            )
