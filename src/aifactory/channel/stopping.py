"""How a signal to stop gets through to the work."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from aifactory.channel.cancel import Cancelled


class Stopping:
    """At once, as Cancelled where the main thread is. Inside `gently`, where the work looks at `stop` by itself and
    leaves things in order, by `stop` alone; and as Cancelled for work that has not ended some seconds later."""

    def __init__(self, stop: threading.Event | None = None):
        self.stop = stop or threading.Event()
        self._seconds: float | None = None
        self._timer: threading.Timer | None = None
        self._over = False

    def heard(self, number: int, frame: FrameType | None) -> None:
        """The handler of the signals that stop a run."""
        if self._over:
            return
        if self._seconds is not None and self._timer is None:
            self.stop.set()
            self._timer = threading.Timer(self._seconds, os.kill, (os.getpid(), number))
            self._timer.daemon = True
            self._timer.start()
            return
        self.over()
        raise Cancelled(signal.Signals(number).name)

    def over(self) -> None:
        """From here on a signal changes nothing."""
        self._over = True
        self.stop.set()

    @contextmanager
    def gently(self, seconds: float) -> Iterator[None]:
        """Inside, the work has `seconds` from the first signal on to end by itself."""
        self._seconds = seconds
        try:
            yield
        finally:
            self._seconds = None
            if self._timer is not None:
                self._timer.cancel()
