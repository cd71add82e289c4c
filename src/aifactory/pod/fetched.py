"""The end of a driver whose control plane doesn't share its mount: it waits until everything was fetched."""

from __future__ import annotations

import os
import time
from pathlib import Path

from aifactory.channel.serve import FETCHED

SECONDS = "AIFACTORY_FETCHED_SECONDS"
"""How long it waits, at most. Not set where the mount is shared."""
POLL_SECONDS = 0.5


def wait_until_fetched(attempt_directory: Path) -> None:
    """Until the control plane has said that it holds all of the attempt: the pod is gone soon after its driver."""
    seconds = float(os.environ.get(SECONDS) or 0)
    until = time.monotonic() + seconds
    while time.monotonic() < until and not (attempt_directory / FETCHED).exists():
        time.sleep(POLL_SECONDS)
    if seconds and not (attempt_directory / FETCHED).exists():
        print(f"nobody fetched the last messages in {seconds:g} s: they stand in {attempt_directory}", flush=True)
