"""Which processes are ours, and their end."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable

from aifactory.laptop import processes

STUBBORN = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True); time.sleep(60)"
# Leaves its session, as Ray's workers do.
STRAY = (
    "import subprocess, sys, time; "
    "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'], start_new_session=True); "
    "print('up', flush=True); time.sleep(60)"
)


def start(script: str, **environment: str) -> subprocess.Popen[str]:
    child = subprocess.Popen(
        [sys.executable, "-c", script],
        env=os.environ | environment,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert child.stdout is not None
    child.stdout.readline()
    return child


def soon(true: Callable[[], bool]) -> bool:
    until = time.monotonic() + 10
    while not true():
        if time.monotonic() > until:
            return False
        time.sleep(0.05)
    return True


def test_a_process_that_ignores_sigterm_is_killed():
    child = start(STUBBORN)
    assert processes.end(lambda: processes.of_session(child.pid), term_seconds=0.3) == []
    assert child.wait(10) == -signal.SIGKILL


def test_what_left_the_session_is_found_by_its_mark():
    mark = f"test-{os.getpid()}-{time.monotonic_ns()}"
    child = start(STRAY, **{processes.MARK: mark})
    assert soon(lambda: len(processes.marked(mark)) == 2)
    processes.end(lambda: processes.of_session(child.pid), term_seconds=5)
    assert len(processes.marked(mark)) == 1
    assert processes.end(lambda: processes.marked(mark), term_seconds=5) == []
    assert processes.marked(mark) == []
    child.wait(10)


def test_a_pid_that_was_given_to_another_process_is_not_the_same_process():
    child = start(STUBBORN)
    process = processes.process_of(child.pid)
    assert process is not None
    assert process.alive()
    assert not process.model_copy(update={"start": process.start - 1}).alive()
    assert not process.model_copy(update={"boot": "another"}).alive()
    child.kill()
    child.wait(10)
    assert not process.alive()
