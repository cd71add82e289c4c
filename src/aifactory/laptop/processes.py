"""Which processes are ours, and their end."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from aifactory.channel import Process, boot_id, read_stat

# Every service carries it in its environment, and whatever a service starts inherits it.
MARK = "AIFACTORY_SERVICES"
TERM_SECONDS = 10.0
KILL_SECONDS = 5.0


def process_of(pid: int) -> Process | None:
    """What identifies a living process across a reused pid."""
    stat = read_stat(pid)
    if stat is None:
        return None
    return Process(pid=pid, start=stat[2], boot=boot_id(), session=stat[1])


def of_session(session: int) -> list[int]:
    """Pids of the session's living processes."""
    return [pid for pid, stat in _living() if stat[1] == session]


def marked(value: str) -> list[int]:
    """Pids of living processes that carry this mark, ourselves apart."""
    mark = f"{MARK}={value}".encode()
    return [pid for pid, _ in _living() if pid != os.getpid() and mark in _environment(pid)]


def end(living: Callable[[], list[int]], term_seconds: float = TERM_SECONDS) -> list[int]:
    """SIGTERM, some seconds, SIGKILL; the pids that outlive it (waiting in the kernel), normally none."""
    _signal(living(), signal.SIGTERM)
    until = time.monotonic() + term_seconds
    while living():
        if time.monotonic() > until:
            break
        time.sleep(0.1)
    until = time.monotonic() + KILL_SECONDS
    while pids := living():
        if time.monotonic() > until:
            return pids
        _signal(pids, signal.SIGKILL)
        time.sleep(0.1)
    return []


def _living() -> Iterator[tuple[int, tuple[str, int, int]]]:
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            stat = read_stat(int(folder.name))
            if stat is not None and stat[0] not in "ZXx":
                yield int(folder.name), stat


def _environment(pid: int) -> list[bytes]:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return []


def _signal(pids: list[int], number: signal.Signals) -> None:
    for pid in pids:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)
