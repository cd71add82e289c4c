"""Patience: an idempotent call is repeated while the API server is away, for minutes and no longer."""

from __future__ import annotations

import random
import time
from collections.abc import Callable

from aifactory.errors import FactoryError
from aifactory.launch.kuberay.wire.errors import ApiError

SECONDS = 300.0
SETTLE_SECONDS = 15.0
"""An API server that has just started answers 401 and 403 until it has read its accounts and roles."""
SHORTEST, LONGEST = 0.25, 15.0
SLICE = 0.1


class Stopped(FactoryError):
    """Whoever waits was asked to stop."""


def patiently[T](
    call: Callable[[], T],
    *,
    seconds: float = SECONDS,
    settle: float = SETTLE_SECONDS,
    told: Callable[[str], None] | None = None,
    stop: Callable[[], bool] | None = None,
) -> T:
    """`call()`, again after what may pass: 408, 429, 5xx, no answer. Waits double from 0.25 to 15 s, with jitter, or
    are what the server's Retry-After says. `told` hears of the first failure, of each other kind of failure, and of the
    end of it. Raises the last ApiError after `seconds`, and Stopped (code "stopped") within 0.2 s of `stop()` becoming
    true while it waits."""
    began, tries, kind = time.monotonic(), 0, ""
    refused: float | None = None  # when an unbroken row of 401 and 403 began
    while True:
        try:
            value = call()
        except ApiError as error:
            now, tries = time.monotonic(), tries + 1
            refused = None if error.status not in (401, 403) else refused or now
            allowed = seconds if error.transient else settle if refused else 0.0
            left = min(began + seconds, (refused or now) + allowed) - now
            pause = min(LONGEST, SHORTEST * 2 ** min(tries, 10)) * random.uniform(0.5, 1.0)
            if error.after is not None:
                pause = error.after + random.uniform(0, SHORTEST)
            if pause > left:
                raise
            if told is not None and kind != error.code:
                told(f"{error.what} ({error.found}); trying again for up to {allowed:.0f} s")
            kind = error.code
            wait(pause, stop)
        else:
            if kind and told is not None:
                told(f"answers again after {time.monotonic() - began:.1f} s and {tries} failed tries")
            return value


def wait(seconds: float, stop: Callable[[], bool] | None) -> None:
    """Sleep. Raises Stopped, code "stopped", once `stop()` is true."""
    until = time.monotonic() + seconds
    while True:
        if stop is not None and stop():
            raise Stopped("stopped while waiting for an API server", code="stopped")
        left = until - time.monotonic()
        if left <= 0:
            return
        time.sleep(min(SLICE, left))
