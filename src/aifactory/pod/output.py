"""What this process and its children print, kept in a file of the attempt."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

DRAIN_SECONDS = 5.0


@contextmanager
def kept(log: Path, *, shown: bool) -> Iterator[None]:
    """Inside, standard output and error of this process and of those that it starts are appended to `log`; `shown`:
    they also go where they went before.

    It works on file descriptors, so that libraries in C and children are in it too. The copy is made by a process of
    its own (`tee`), which still writes the last lines of one that is killed.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    before = [os.dup(number) for number in (1, 2)]
    copier = None
    if shown:
        # In a session of its own: whoever ends this one's process group must not end it first.
        copier = subprocess.Popen(["tee", "-a", log], stdin=subprocess.PIPE, stdout=before[0], start_new_session=True)
        assert copier.stdin is not None
        handle = os.dup(copier.stdin.fileno())
        copier.stdin.close()
    else:
        handle = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    _flush()
    for number in (1, 2):
        os.dup2(handle, number)
    os.close(handle)
    try:
        yield
    finally:
        _flush()
        for number, old in zip((1, 2), before, strict=True):
            os.dup2(old, number)
            os.close(old)
        if copier is not None:
            # A child that outlives this process holds its end of the pipe open.
            with suppress(subprocess.TimeoutExpired):
                copier.wait(timeout=DRAIN_SECONDS)


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
