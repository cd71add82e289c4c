"""Launches on a real API server whose pods only pretend to run: what the Ray job would do is done by a process here."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from aifactory.launch import Plan, RunResult, launch
from aifactory.launch.clusters.kube import KubeCluster
from aifactory.launch.images.verifications import Verification, record
from tests.kube import table
from tests.kube.space import Space
from tests.launch.lab import Lab

LAUNCH = """
import sys
from aifactory.launch import launch, plan
planned = plan(sys.argv[1], cluster="lab", queue=sys.argv[3] or None)
result = launch(planned, run=sys.argv[2], on_change=lambda text: print(text, flush=True))
print("RESULT", result.outcome, result.attempt, result.launched, flush=True)
"""
FAST = {"retries": {"preempted": 5, "infrastructure": 1, "wait_seconds": 0.0}, "stop_seconds": 5.0}


class Flight:
    """One run on the cluster `lab` of the space, whose drivers run here (`tests.kube.driver`)."""

    def __init__(self, lab: Lab, space: Space, run: str, **changes: Any):
        self.lab, self.space, self.run = lab, space, run
        self.table = table.table(space, lab.ns.root, **{**FAST, **changes})
        table.write(lab.project.root, lab=self.table)
        digest = lab.image.digest
        (lab.project.root / "images.toml").write_text(f'[data]\ndigest = "{digest}"\nreference = "{table.IMAGE}"\n')
        record(lab.ns, "public", "data", Verification(digest, table.IMAGE.partition("@")[2], "smoke-1", "lab"))
        self.lines: list[str] = []
        self.began = time.monotonic()

    @property
    def cluster(self) -> KubeCluster:
        return KubeCluster.model_validate({"name": "lab", **self.table})

    @property
    def directory(self) -> Path:
        return self.lab.ns.root / "public" / "runs" / self.run

    def plan(self, function: str, context: dict[str, object] | None = None, **parameters: object) -> Plan:
        queue = {"queue": self.space.queues[0]} if self.space.queues else {}
        return self.lab.plan(function, context={"cluster": "lab", **queue, **(context or {})}, **parameters)

    def _say(self, line: str) -> None:
        print(f"{time.monotonic() - self.began:6.1f} {line}")  # pytest shows it where a test fails
        self.lines.append(line)

    def said(self, text: str) -> bool:
        """Whether a line has it."""
        return any(text in line for line in self.lines)

    def launch(self, plan: Plan, **how: Any) -> RunResult:
        return launch(plan, run=self.run, on_change=self._say, project=self.lab.project, ns=self.lab.ns, **how)

    def process(self, plan: Plan) -> subprocess.Popen[str]:
        """The same in a process of its own, to be killed."""
        queue = self.space.queues[0] if self.space.queues else ""
        command = [sys.executable, "-c", LAUNCH, plan.hash, self.run, queue]
        return subprocess.Popen(command, env=self.lab.environment, stdout=subprocess.PIPE, text=True)

    @contextmanager
    def launching(self, plan: Plan, **how: Any) -> Iterator[Launched]:
        """The same beside the test."""
        found = Launched(lambda: self.launch(plan, **how))
        yield found
        found.join()

    def left(self) -> list[str]:
        """What is there of the run's attempts on the cluster."""
        kinds = "rayjobs,rayclusters,pods,secrets,configmaps"
        found = self.space.kubectl("get", kinds, "-l", f"aifactory/run={self.run}", "-o", "name")
        return found.split()

    def until_gone(self, seconds: float = 20.0) -> None:
        until(lambda: not self.left(), seconds)


class Launched:
    """A launch in a thread; `result` once it has ended."""

    def __init__(self, work: Callable[[], RunResult]):
        self._found: list[RunResult | BaseException] = []

        def run() -> None:
            try:
                self._found.append(work())
            except BaseException as error:
                self._found.append(error)

        self._thread = threading.Thread(target=run, daemon=True)
        self._thread.start()

    @property
    def alive(self) -> bool:
        return self._thread.is_alive()

    def join(self, seconds: float = 90.0) -> None:
        self._thread.join(seconds)
        assert not self.alive, "the launch goes on"

    @property
    def result(self) -> RunResult:
        self.join()
        found = self._found[0]
        if isinstance(found, BaseException):
            raise found
        return found


def until[T](condition: Callable[[], T], seconds: float = 40.0) -> T:
    """What the condition gives, once it is true."""
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end, "it never happened"
        time.sleep(0.1)
    return found
