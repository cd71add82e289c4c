"""What a launch does when its Dagster run is told to end."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any, Self

import dagster as dg

from aifactory.launch import Signal

POLL_SECONDS = 1.0
ENDED = frozenset({dg.DagsterRunStatus.SUCCESS, dg.DagsterRunStatus.FAILURE, dg.DagsterRunStatus.CANCELED})


class Interrupts:
    """While it is entered, SIGTERM and SIGINT do not raise wherever the code happens to be: `signal` says what to do.

    A Dagster run that is CANCELING, or already ended, stops its run. Anything else that ends this process (a restart of
    the code server, an eviction) detaches: the run lives on, and Dagster's automatic retry adopts it. Every launcher of
    Dagster writes CANCELING before it sends the signal.
    """

    def __init__(self, instance: dg.DagsterInstance, run_id: str, *, clock: Callable[[], float] = time.monotonic):
        self._instance, self._run_id, self._clock = instance, run_id, clock
        self._interrupted = False
        self._looked = float("-inf")
        self._decision: Signal = "run"
        self._previous: dict[int, Any] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGTERM, signal.SIGINT):
                self._previous[number] = signal.signal(number, self._take)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._previous.items():
            signal.signal(number, handler)
        self._previous.clear()

    def signal(self) -> Signal:
        """`run`, `stop` or `detach`. Reads the run's status at most once a second, and at once after a signal."""
        if self._decision != "run":
            return self._decision
        now = self._clock()
        if not self._interrupted and now - self._looked < POLL_SECONDS:
            return "run"
        self._looked = now
        run = self._instance.get_run_by_id(self._run_id)
        if run is not None and (run.status == dg.DagsterRunStatus.CANCELING or run.status in ENDED):
            self._decision = "stop"
        elif self._interrupted:
            self._decision = "detach"
        return self._decision

    @property
    def interrupted(self) -> bool:
        """Whether this process or its Dagster run was told to end."""
        return self._interrupted or self._decision != "run"

    def _take(self, number: int, frame: FrameType | None) -> None:
        self._interrupted = True
