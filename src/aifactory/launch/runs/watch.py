"""Watching an attempt: its messages and its log as they come, and how it ends."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from aifactory.channel import Commands, Message, Reader
from aifactory.channel.logs import driver_log
from aifactory.channel.payloads import Failure
from aifactory.errors import FactoryError
from aifactory.launch.runs.attempts import Attempt, Attempts
from aifactory.launch.runs.carrier import Carrier
from aifactory.launch.runs.logs import Tail
from aifactory.launch.runs.result import Outcome, Signal
from aifactory.launch.runs.session import GRACE_SECONDS

POLL_SECONDS = 0.2
DAMAGE_SECONDS = 2.0
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
    """Seconds that an attempt may wait in its queue, take to come up, and run, each counted by itself; and since it
    last said anything (message or log) while it runs. None: no limit."""

    run: float | None = None
    stall: float | None = None
    queue: float | None = None
    start: float | None = None


class Watch:
    """One attempt, watched from its first message on, by whoever launched or adopted it.

    `carrier` is what it runs in. The log of a `private` run stays in its directory.
    """

    def __init__(
        self,
        attempts: Attempts,
        attempt: Attempt,
        *,
        carrier: Carrier,
        stop: Callable[[], Signal],
        budgets: Budgets,
        private: bool = False,
    ):
        self.path = attempts.path(attempt.number)
        self.attempt, self.carrier, self.stop, self.budgets = attempt, carrier, stop, budgets
        self.private = private
        self.reader = Reader(self.path)
        self.tail = Tail(driver_log(self.path))
        self.commands = Commands(self.path)
        self._heard = time.monotonic()
        self._size = 0
        self._damaged: float | None = None
        self._damage_error: FactoryError | None = None
        self._unreadable: float | None = None
        self._asked: float | None = None

    def events(self) -> Iterator[Event]:
        """Until Ended. Leaves nothing of the attempt behind, unless detached."""
        while True:
            gone = self.carrier.gone()
            try:
                yield from self._news()
                self._unreadable = None
            except OSError as error:
                yield from self._blip(error)
            damage = self._damage
            if self.reader.closed is not None:
                self.carrier.wait()
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
                yield Change(late.text)
                yield from self._grace()
                yield from self._finish("deadline", late)
                return
            time.sleep(POLL_SECONDS)

    @property
    def _damage(self) -> FactoryError | None:
        # A shared file system may show a later file first, so a gap counts once it has stayed for a while.
        if self._damaged is None or time.monotonic() - self._damaged < DAMAGE_SECONDS:
            return None
        return self._damage_error

    def _news(self) -> Iterator[Event]:
        for line in self.carrier.changes():
            yield Change(line)
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

    def _stop_overdue(self) -> bool:
        """True when somebody's stop command was not obeyed in time."""
        if self._asked is None:
            if self.commands.asked_to_stop():
                self._asked = time.monotonic()
            return False
        return time.monotonic() - self._asked > max(GRACE_SECONDS, self.carrier.grace)

    def cancel(self) -> Ended:
        """End the attempt at once, for a caller that no longer takes events."""
        ended = Ended(None)
        for event in self._cancel():
            if isinstance(event, Ended):
                ended = event
        return ended

    def _cancel(self) -> Iterator[Event]:
        yield Change("stopping")
        if not self.commands.asked_to_stop():
            self.commands.send("stop", writer="watch")
        yield from self._grace()
        yield from self._finish("cancelled", None)

    def _grace(self) -> Iterator[Event]:
        """Time for a last checkpoint and the last message, where ending the carrier would leave none."""
        if self.carrier.grace and not self.commands.asked_to_stop():
            self.commands.send("stop", writer="watch")
        until = time.monotonic() + self.carrier.grace
        while time.monotonic() < until and self.reader.closed is None and self.carrier.gone() is None:
            try:
                yield from self._news()
            except OSError as error:
                yield from self._blip(error)
            time.sleep(POLL_SECONDS)

    def _late(self) -> Failure | None:
        """Which budget is over."""
        now, carrier, budgets = time.monotonic(), self.carrier, self.budgets
        took, why = now - carrier.since, f": {carrier.said}" if carrier.said else ""
        quiet = now - max(self._heard, carrier.since)
        for phase, name, limit, spent, text in (
            ("queued", "queue", budgets.queue, took, "the attempt has waited in its queue for more than {} s{}"),
            ("starting", "start", budgets.start, took, "the attempt did not come up within {} s{}"),
            ("running", "run", budgets.run, took, "the attempt has taken more than {} s"),
            ("running", "stall", budgets.stall, quiet, "no message and no log line for {} s"),
        ):
            if phase == carrier.phase and limit is not None and spent > limit:
                said = f"deadline: {text.format(f'{limit:g}', why)}"
                return Failure(type="Deadline", text=said, code=f"deadline_{name}")
        return None

    def _finish(self, outcome: Outcome, error: Failure | None) -> Iterator[Event]:
        """End what is left, then hand on what it still said. A last message that came in between is what counts, but
        for one that only tells of what was done to the attempt from outside."""
        done = None
        if outcome in ("failed_code", "cancelled") and not self.commands.asked_to_stop():
            done = self.carrier.explained(outcome)
        if done is not None:
            outcome, error = done
        for line in self.carrier.end(outcome, error):
            yield Change(line)
        try:
            messages = self.reader.new()
        except FactoryError:
            messages = []
        for message in messages:
            yield Arrived(message)
        if (text := self.tail.new(last=True)) and not self.private:
            yield Log(text)
        closed = self.reader.closed
        late = outcome in ("deadline", "preempted") and closed is not None and closed.outcome == "cancelled"
        if closed is not None and done is None and not late:
            outcome, error = closed.outcome, closed.error
        yield Ended(outcome, error)
