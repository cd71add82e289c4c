"""A small lab served by a real Dagster: code server, daemon, web server."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from aifactory.channel import Process
from aifactory.laptop.graphql import Client
from aifactory.launch import Attempts, RunSummary, runs
from aifactory.launch.runs.session import marked
from tests.orchestrate.lab import Lab

WAITING = '''
import subprocess
import time
from pathlib import Path

from aifactory.datasets import dataset


def wait(name: str) -> Path:
    """Until the file `<name>.go` stands beside the namespace; a process of its own waits along."""
    child = subprocess.Popen(["sleep", "600"])
    go = Path({root!r}) / f"{{name}}.go"
    while not go.exists():
        time.sleep(0.05)
    child.kill()
    child.wait()
    path = Path(f"{{name}}.txt")
    path.write_text(name)
    return path


@dataset(automation=False)
def canceled() -> Path:
    return wait("canceled")


@dataset(automation=False)
def killed() -> Path:
    return wait("killed")


@dataset(automation=False)
def terminated() -> Path:
    return wait("terminated")
'''


@dataclass(frozen=True)
class Served:
    """The lab and its web server."""

    lab: Lab
    client: Client
    root: Path

    def go(self, name: str) -> None:
        """Let a waiting build end."""
        (self.root / f"{name}.go").touch()

    def run_of(self, key: str) -> RunSummary:
        """The one run that built this key, or builds it."""
        (found,) = [run for run in runs(self.lab.namespace) if run.target == key]
        return found

    def building(self, key: str) -> Path:
        """The directory of the attempt that builds this key, once its process and that one's child live."""
        until(lambda: any(run.target == key for run in runs(self.lab.namespace)), "the build's start", 60)
        attempts = Attempts(self.run_of(key).directory)
        until(lambda: attempts.newest() is not None and len(marked(attempts.path(1))) == 2, "the build's process", 60)
        return attempts.path(1)

    def attempts(self, key: str) -> int:
        return len(Attempts(self.run_of(key).directory).all())

    def worker(self, key: str) -> int:
        """The process that executes the Dagster run: the one that started the build."""
        (process,) = [one for path in [self.building(key)] if (one := Process.load(path))]
        stat = Path(f"/proc/{process.pid}/stat").read_text()
        return int(stat.rpartition(")")[2].split()[1])

    def retry_of(self, run_id: str) -> dict[str, str]:
        """Dagster's automatic retry of a run, once it has ended: `runId status`."""
        found: list[dict[str, str]] = []

        def look() -> bool:
            found[:] = [one for one in self.client.runs() if one["tags"].get("dagster/parent_run_id") == run_id]
            return bool(found) and found[0]["status"] in ("SUCCESS", "FAILURE", "CANCELED")

        until(look, f"the retry of {run_id}", 120)
        return found[0]


def until(condition: Callable[[], bool], what: str, seconds: float) -> float:
    """Wait; how many seconds it took."""
    start = time.monotonic()
    while not condition():
        assert time.monotonic() - start < seconds, f"{what} did not come within {seconds:g} s"
        time.sleep(0.2)
    return time.monotonic() - start
