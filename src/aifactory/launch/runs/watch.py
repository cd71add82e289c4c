"""Watching an attempt: its messages and its log as they come, and how it ends."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime

from aifactory.channel import Commands, Message, Process, Reader
from aifactory.channel.payloads import Failure
from aifactory.errors import FactoryError
from aifactory.launch.runs.attempts import Attempt, Attempts
from aifactory.launch.runs.logs import Tail, last_lines, log_path
from aifactory.launch.runs.result import Outcome, Signal
from aifactory.launch.runs.session import GRACE_SECONDS, end

POLL_SECONDS = 0.2
EXIT_SECONDS = 5.0
DAMAGE_SECONDS = 2.0
REAP_SECONDS = 1.0
READ_SECONDS = 300.0


@dataclass(frozen=True)
class Arrived:
    """A message."""

    message: Message


@dataclass(frozen=True)
class Log:
    """Whole lines of the driver's log."""

    text: str


@dataclass(frozen=True)
class Change:
    """The attempt has a new state, in words."""

    text: str


@dataclass(frozen=True)
class Ended:
    """The last event; `outcome` None when the caller detached."""

    outcome: Outcome | None
    error: Failure | None = None


type Event = Arrived | Log | Change | Ended


@dataclass(frozen=True)
class Budgets:
    """Seconds since the attempt was recorded, and since it last said anything (message or log). None: no limit."""

    run: float | None = None
    stall: float | None = None


class Watch:
    """One attempt, watched from its first message on, by whoever launched or adopted it.

    `child` is the process if this one started it: then an end before process.json is seen. The log of a `private` run
    stays in its directory.
    """

    def __init__(
        self,
        attempts: Attempts,
        attempt: Attempt,
        *,
        child: subprocess.Popen[bytes] | None,
        stop: Callable[[], Signal],
        budgets: Budgets,
        private: bool = False,
    ):
        self.path = attempts.path(attempt.number)
        self.attempt, self.child, self.stop, self.budgets = attempt, child, stop, budgets
        self.private = private
        self.process: Process | None = None
        self.reader = Reader(self.path)
        self.tail = Tail(log_path(self.path))
        self.commands = Commands(self.path)
        started = datetime.fromisoformat(attempt.started)
        self._age = time.monotonic() - max(0.0, (datetime.now(UTC) - started).total_seconds())
        self._heard = time.monotonic()
        self._size = 0
        self._damaged: float | None = None
        self._damage_error: FactoryError | None = None
        self._unreadable: float | None = None
        self._asked: float | None = None

    def events(self) -> Iterator[Event]:
        """Until Ended. Leaves no process of the attempt behind, unless detached."""
        while True:
            gone = self._gone()
            try:
                yield from self._news()
                self._unreadable = None
            except OSError as error:
                yield from self._blip(error)
            damage = self._damage
            if self.reader.closed is not None:
                self._wait_for_exit()
                yield from self._finish(self.reader.closed.outcome, self.reader.closed.error)
                return
            if damage is not None:
                yield from self._finish("lost", self.reader.damage(damage))
                return
            if gone is not None and self._unreadable is None and self._damaged is None:
                yield from self._finish(*gone)
                return
            signal = self.stop()
            if signal == "detach":
                yield Ended(None)
                return
            if signal == "stop" or self._stop_overdue():
                yield from self._cancel()
                return
            if (late := self._late()) is not None:
                yield Change(late)
                yield from self._finish("deadline", Failure(type="Deadline", text=late, code="deadline"))
                return
            time.sleep(POLL_SECONDS)

    @property
    def _damage(self) -> FactoryError | None:
        # A shared file system may show a later file first, so a gap counts once it has stayed for a while.
        if self._damaged is None or time.monotonic() - self._damaged < DAMAGE_SECONDS:
            return None
        return self._damage_error

    def _news(self) -> Iterator[Event]:
        if self.process is None:
            self.process = Process.load(self.path)
            if self.process is not None:
                yield Change(f"attempt {self.attempt.number} runs as process {self.process.pid}")
        messages: list[Message] = []
        try:
            messages = self.reader.new()
            self._damaged = None
        except FactoryError as error:
            self._damage_error = error
            self._damaged = self._damaged or time.monotonic()
        if (text := self.tail.new()) and not self.private:
            yield Log(text)
        if messages or self.tail.size != self._size:
            self._heard, self._size = time.monotonic(), self.tail.size
        for message in messages:
            yield Arrived(message)

    def _blip(self, error: OSError) -> Iterator[Event]:
        # A failed read is never a failed run.
        now = time.monotonic()
        if self._unreadable is None:
            self._unreadable = now
            yield Change(f"the attempt's directory can't be read, trying again: {error}")
        elif now - self._unreadable > READ_SECONDS:
            raise error

    def _gone(self) -> tuple[Outcome, Failure] | None:
        """How it ended without a last message, as seen before this turn's messages were read."""
        if self.process is not None:
            if self.process.alive():
                return None
            return "lost", self._failure("Lost", self._how(), "lost")
        if self.child is None or self.child.returncode is None:
            return None
        if Process.load(self.path) is not None:
            return None
        return "failed_infrastructure", self._failure(
            "NotStarted", f"the entrypoint never began: {self._how()}", "not_started"
        )

    def _how(self) -> str:
        code = None
        if self.child is not None and (self.process is None or self.child.pid == self.process.pid):
            # Another thread reaps it: it is gone from the process table before its exit code is known here.
            with suppress(subprocess.TimeoutExpired):
                code = self.child.wait(timeout=REAP_SECONDS)
        if code is None:
            return "the process is gone without a last message; exit code and signal unknown"
        how = f"was ended by signal {-code}" if code < 0 else f"exited with {code}"
        return f"the process {how} without a last message"

    def _failure(self, type: str, text: str, code: str) -> Failure:
        lines = [] if self.private else last_lines(log_path(self.path))
        return Failure(type=type, text=text, trace="\n".join(lines), code=code)

    def _wait_for_exit(self) -> None:
        until = time.monotonic() + EXIT_SECONDS
        while self.process is not None and self.process.alive() and time.monotonic() < until:
            time.sleep(POLL_SECONDS / 4)

    def _stop_overdue(self) -> bool:
        """True when somebody's stop command was not obeyed in time."""
        if self._asked is None:
            if any(command.name == "stop" for command in self.commands.sent()):
                self._asked = time.monotonic()
            return False
        return time.monotonic() - self._asked > GRACE_SECONDS

    def cancel(self) -> Ended:
        """End the attempt at once, for a caller that no longer takes events."""
        ended = Ended(None)
        for event in self._cancel():
            if isinstance(event, Ended):
                ended = event
        return ended

    def _cancel(self) -> Iterator[Event]:
        yield Change("stopping")
        if not self.commands.sent():
            self.commands.send("stop", writer="watch")
        yield from self._finish("cancelled", None)

    def _late(self) -> str | None:
        now = time.monotonic()
        if self.budgets.run is not None and now - self._age > self.budgets.run:
            return f"deadline: the attempt has taken more than {self.budgets.run:g} s"
        if self.budgets.stall is not None and now - self._heard > self.budgets.stall:
            return f"deadline: no message and no log line for {self.budgets.stall:g} s"
        return None

    def _finish(self, outcome: Outcome, error: Failure | None) -> Iterator[Event]:
        """End what is left, then hand on what it still said. A last message that came in between is what counts."""
        end(self.process, self.path)
        try:
            messages = self.reader.new()
        except FactoryError:
            messages = []
        for message in messages:
            yield Arrived(message)
        if (text := self.tail.new(last=True)) and not self.private:
            yield Log(text)
        closed = self.reader.closed
        if closed is not None and not (outcome == "deadline" and closed.outcome == "cancelled"):
            outcome, error = closed.outcome, closed.error
        yield Ended(outcome, error)
