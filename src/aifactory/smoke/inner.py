"""A training inside the smoke: a run of its own in the smoke's directory, started by the entrypoint."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil

from aifactory.channel import CheckpointSaved, Closed, Message, Progress, Reader
from aifactory.channel.job import Job
from aifactory.channel.logs import driver_log
from aifactory.errors import FactoryError
from aifactory.spec import RunSpec
from aifactory.store import Journal

POLL_SECONDS = 0.02
STALL_SECONDS = 600.0
KILL_SECONDS = 10.0


@dataclass(frozen=True)
class Ended:
    """How an attempt of an inner training ended: `outcome` "killed", or what it said itself; its messages."""

    outcome: str
    messages: tuple[Message, ...]

    @property
    def saved(self) -> list[CheckpointSaved]:
        """The checkpoints that it told of, in order."""
        return [one for message in self.messages if isinstance(one := message.payload, CheckpointSaved)]


class Inner:
    """The training `name` of a smoke: its spec is the smoke's as a training, so two of them have one hash."""

    def __init__(self, job: Job, name: str):
        self._job, self.name = job, name
        # Where it stands says its class, as for every run. A smoke that was preempted begins anew in another place.
        self.directory = job.directory / "public" / "runs" / f"attempt-{job.attempt}-{name}"
        suites = job.spec.inputs_of("suite")
        inputs = tuple(ref for ref in job.spec.inputs if ref not in suites)
        self.spec = RunSpec(kind="train", config=job.spec.train, inputs=inputs, image=job.spec.image)
        self._attempts = 0

    def attempt(self, *, kill: Callable[[Message], bool] | None = None) -> Ended:
        """Start the next attempt and watch it to its end; with `kill` end all its processes by SIGKILL as soon as that
        answers True to a message.

        Raises FactoryError, code "inner", for one that ends otherwise than it should or says nothing for long.
        """
        path = self._record()
        log = driver_log(path)
        log.parent.mkdir(parents=True)
        command = [sys.executable, "-m", "aifactory.run", "--run", str(self.directory), "--attempt", path.name]
        with log.open("ab") as out:
            child = subprocess.Popen(command, cwd=path, stdin=subprocess.DEVNULL, stdout=out, stderr=out)
        try:
            messages = []
            for message in self._messages(child, Reader(path)):
                messages.append(message)
                if kill is not None and kill(message):
                    _kill(child)
                    return Ended("killed", tuple(messages))
        finally:
            _kill(child)
        closed = messages[-1].payload if messages else None
        if not isinstance(closed, Closed):
            raise self._failed(path, f"it ended with exit code {child.returncode} and no last message")
        if closed.outcome != "succeeded":
            said = f"{closed.error.type}: {closed.error.text}" if closed.error else closed.outcome
            raise self._failed(path, said)
        return Ended(closed.outcome, tuple(messages))

    def _record(self) -> Path:
        """Write what the entrypoint reads of a run, and the record of its next attempt."""
        self.directory.mkdir(parents=True, exist_ok=True)
        (self.directory / "spec.json").write_bytes(self.spec.to_bytes())
        context = self._job.context.evolve({"suites": (), "line": None, "recipe": None, "places": {}})
        (self.directory / "context.json").write_bytes(context.to_bytes())
        self._attempts += 1
        path = self.directory / "attempts" / f"{self._attempts:08d}"
        path.mkdir(parents=True)
        job = f"{self._job.directory.name}-{self.name}-{self._attempts}"
        body = {"event": "start", "attempt": self._attempts, "backend": "smoke", "job": job, "spec": self.spec.hash}
        Journal(path.parent / "@journal").append(body, writer=self._job.directory.name)
        return path

    def _messages(self, child: subprocess.Popen[bytes], reader: Reader) -> Iterator[Message]:
        """Its messages as they come, until it has ended; its progress is told as the smoke's."""
        heard = time.monotonic()
        while True:
            ended = child.poll() is not None
            for message in reader.new():
                heard = time.monotonic()
                if message.method == "report_custom_message" and isinstance(one := message.payload, Progress):
                    self._job.writer.send(one.model_copy(update={"text": f"{self.name}: {one.text}"}))
                yield message
            if ended:
                return
            if time.monotonic() - heard > STALL_SECONDS:
                raise self._failed(self.directory, f"it said nothing for {STALL_SECONDS:g} s")
            self._job.check_stop()
            time.sleep(POLL_SECONDS)

    def _failed(self, place: Path, found: str) -> FactoryError:
        return FactoryError(
            f"the training {self.name!r} inside the smoke failed",
            found=found,
            expected=f"{self.spec.train.steps} steps",
            fix=f"read {place}/logs/driver.log",
            code="inner",
        )


def _kill(child: subprocess.Popen[bytes]) -> None:
    """End the process and all that it has started, at once: nothing of it may write another message."""
    if child.poll() is not None:
        return
    try:
        family = [psutil.Process(child.pid), *psutil.Process(child.pid).children(recursive=True)]
    except psutil.Error:
        family = []
    for process in family:
        try:
            process.send_signal(signal.SIGKILL)
        except psutil.Error:
            continue
    child.wait(timeout=KILL_SECONDS)
    psutil.wait_procs([one for one in family if one.pid != child.pid], timeout=KILL_SECONDS)


def first_checkpoint(message: Message) -> bool:
    """Kill as soon as it has one checkpoint."""
    return message.method == "report_custom_message" and isinstance(message.payload, CheckpointSaved)
