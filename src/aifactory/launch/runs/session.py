"""Ending everything that belongs to an attempt on this machine."""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from pathlib import Path

from aifactory.channel import Process, read_stat
from aifactory.errors import FactoryError

MARK = "AIFACTORY_ATTEMPT"
GRACE_SECONDS = 4.0
KILL_SECONDS = 4.0


def members(process: Process, attempt_directory: Path) -> list[int]:
    """Pids of the attempt's living processes, its own first.

    All of its session id, also those that changed their process group (Ray's workers do), and whoever left the session
    but still carries the attempt's directory in its environment. None after a reboot, and none of a pod's: its numbers
    are those of other processes here.
    """
    if not process.here:
        return []
    # An entrypoint that a person started in his shell leads no session, and his shell is not ours to end.
    return _members(process.session if process.session == process.pid else None, process, attempt_directory)


def marked(attempt_directory: Path) -> list[int]:
    """Pids of living processes that were started for this attempt, as their environment says."""
    return _members(None, None, attempt_directory)


def end(process: Process | None, attempt_directory: Path, *, grace: float = GRACE_SECONDS) -> None:
    """SIGTERM, at most `grace` seconds, SIGKILL, and see that nothing is left. Under 10 s in all.

    Raises FactoryError (code "not_killed") naming the pids that outlive SIGKILL.
    """

    def living() -> list[int]:
        return marked(attempt_directory) if process is None else members(process, attempt_directory)

    def gone(seconds: float, number: signal.Signals | None) -> bool:
        until = time.monotonic() + seconds
        while pids := living():
            if number is not None:
                _signal(pids, number)
            if time.monotonic() > until:
                return False
            time.sleep(0.05)
        return True

    _signal(living(), signal.SIGTERM)
    if gone(grace, None) or gone(KILL_SECONDS, signal.SIGKILL):
        return
    raise FactoryError(
        f"processes of {attempt_directory} outlive SIGKILL",
        found=", ".join(map(str, living())),
        fix="they wait for a device or a network file system: look at /proc/<pid>/stack",
        code="not_killed",
    )


def _members(session: int | None, process: Process | None, attempt_directory: Path) -> list[int]:
    mark = f"{MARK}={attempt_directory}".encode()
    # A leader's pid with another start time means that the number was given away, and the session with it.
    leader = read_stat(process.pid) if process is not None else None
    if process is not None and leader is not None and leader[2] != process.start:
        session = None
    found = []
    for pid in _pids():
        stat = read_stat(pid)
        if stat is None or stat[0] in "ZXx" or pid == os.getpid():
            continue
        if (session is not None and stat[1] == session) or _carries(pid, mark):
            found.append(pid)
    first = process.pid if process is not None else None
    return sorted(found, key=lambda pid: (pid != first, pid))


def _pids() -> list[int]:
    return [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]


def _carries(pid: int, mark: bytes) -> bool:
    try:
        return mark in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return False


def _signal(pids: list[int], number: signal.Signals) -> None:
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, number)
