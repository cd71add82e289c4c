"""Launchers as processes of their own, to be killed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from aifactory.channel import Process
from tests.launch.lab import Lab

CODE = """
import sys
from aifactory.launch import launch, plan
result = launch(plan(sys.argv[1]), run=sys.argv[2], on_change=lambda text: print(text, flush=True))
print("RESULT", result.outcome, result.attempt, result.launched, flush=True)
"""


@contextmanager
def launcher(lab: Lab, spec: str, run: str) -> Iterator[subprocess.Popen[str]]:
    """`aifactory.launch.launch` of a frozen spec in another process, which is gone afterwards."""
    command = [sys.executable, "-c", CODE, spec, run]
    process = subprocess.Popen(command, env=lab.environment, stdout=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def attempt(lab: Lab, run: str, number: int = 1) -> Path:
    return lab.ns.root / "public/runs" / run / "attempts" / f"{number:08d}"


def until(condition: Callable[[], object], seconds: float = 20.0) -> None:
    """Wait for something to become true."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it never happened"
        time.sleep(0.02)


def process_of(lab: Lab, run: str, number: int = 1) -> Process:
    """The attempt's process, once it has said its first words."""
    path = attempt(lab, run, number)
    until(lambda: len(list(path.glob("messages/*.json"))) >= 2)
    process = Process.load(path)
    assert process is not None
    return process


def starts(lab: Lab, run: str) -> int:
    """How many attempts were recorded."""
    journal = lab.ns.root / "public/runs" / run / "attempts/@journal"
    bodies = [json.loads(path.read_bytes())["body"] for path in journal.glob("*.json")]
    return sum(body["event"] == "start" for body in bodies)


def lives(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state not in "ZX"


def kill(pid: int) -> None:
    os.kill(pid, 9)
