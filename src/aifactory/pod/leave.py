"""`python -m aifactory.pod.leave --run DIR --attempt N`: what a pod does before it is ended (its preStop hook).

Tells the run that it must go, and waits until it has saved what it can. Kubernetes ends the pod afterwards, or when its
grace is over.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from aifactory.channel import Process, Reader
from aifactory.errors import FactoryError
from aifactory.store import Store, canonical

NAME = "leaving.json"
POLL_SECONDS = 0.5


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m aifactory.pod.leave", description=__doc__)
    parser.add_argument("--run", type=Path, required=True, help="the run's directory")
    parser.add_argument("--attempt", type=int, required=True)
    parser.add_argument("--seconds", type=float, required=True, help="how long to wait for its end")
    options = parser.parse_args(arguments)
    attempt_directory = options.run / "attempts" / f"{options.attempt:08d}"
    until = time.monotonic() + options.seconds
    if not attempt_directory.is_dir() or _ended(attempt_directory):
        return 0
    Store(attempt_directory).put(NAME, canonical({"at": time.time()}))
    while time.monotonic() < until and _works(attempt_directory) and not _ended(attempt_directory):
        time.sleep(POLL_SECONDS)
    return 0


def leaving(attempt_directory: Path) -> bool:
    """Whether a pod of the attempt has said that it must go."""
    return (attempt_directory / NAME).exists()


def _ended(attempt_directory: Path) -> bool:
    reader = Reader(attempt_directory)
    try:
        reader.new()
    except FactoryError:
        return False
    return reader.closed is not None


def _works(attempt_directory: Path) -> bool:
    """Whether the driver may still live, and this pod holds a process of its work: the driver, or a worker of Ray."""
    process = Process.load(attempt_directory)
    if process is None or process.seen() == "gone":
        return False
    return process.seen() == "alive" or any(map(_is_worker, Path("/proc").glob("[0-9]*/cmdline")))


def _is_worker(cmdline: Path) -> bool:
    try:
        words = cmdline.read_bytes()
    except OSError:
        return False
    return words.startswith(b"ray::") and not words.startswith(b"ray::IDLE")


if __name__ == "__main__":
    sys.exit(main())
