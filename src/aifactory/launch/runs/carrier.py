"""What carries an attempt, a process or a job of a cluster: whoever watches an attempt asks it through this."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, Protocol

from aifactory.channel.payloads import Failure
from aifactory.launch.runs.result import Outcome

Phase = Literal["queued", "starting", "running"]


class Carrier(Protocol):
    """One attempt at its backend. Nothing here waits for a network but `end`; a read that fails is never an end.

    `phase` is the newest that is known, `since` the value of the monotonic clock when it began, `said` the reason of
    it in words. `grace`: for how many seconds a stop command may be obeyed before `end` is called.
    """

    @property
    def phase(self) -> Phase: ...

    @property
    def since(self) -> float: ...

    @property
    def said(self) -> str: ...

    @property
    def grace(self) -> float: ...

    def changes(self) -> list[str]:
        """What has changed since the last call, a line each."""
        ...

    def gone(self) -> tuple[Outcome, Failure] | None:
        """How it ended without a last message; None while it lives or may still begin. Asked before the messages of
        the same turn are read."""
        ...

    def wait(self) -> None:
        """After the last message: until it has left by itself, for a bounded time."""
        ...

    def explained(self, outcome: Outcome) -> tuple[Outcome, Failure] | None:
        """What was done to it from outside, which explains a driver that says that it failed, or that it was cancelled
        although nobody had asked it to stop. `outcome` is what the driver said."""
        ...

    def end(self, outcome: Outcome, why: Failure | None = None) -> Iterator[str]:
        """End what is left of it, with a line for each thing that a person should know. The first is lazy: iterate."""
        ...
