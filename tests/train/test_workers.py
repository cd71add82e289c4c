"""Several workers under a real Ray: two starts, the only ones in this folder."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from aifactory.channel import CheckpointSaved, Closed, Process, Progress, Reader, Started
from aifactory.launch.runs.attempts import Attempts
from aifactory.spec import Train
from aifactory.train.metrics import read_metrics
from tests.train.lab import Lab, tiny, train_job

pytest.importorskip("ray", reason="ray is not installed here")
START_SECONDS = 280


@pytest.fixture
def temporary() -> Iterator[Path]:
    """A temporary directory for Ray, in which nothing may be left. pytest's own is too long for a socket."""
    with tempfile.TemporaryDirectory(prefix="w", dir="/tmp") as name:
        yield Path(name)
        assert list(Path(name).glob("af-*")) == []


def start(lab: Lab, config: Train, run: str, temporary: Path) -> tuple[subprocess.Popen[bytes], Path]:
    """An attempt as the launcher starts it: the entrypoint in a session of its own."""
    job = train_job(lab, config, run)
    (job.directory / "spec.json").write_bytes(job.spec.to_bytes())
    (job.directory / "context.json").write_bytes(job.context.to_bytes())
    Attempts(job.directory).start(backend="local", spec=job.spec.hash, writer="test", after=None)
    (job.attempt_directory / "logs").mkdir()
    env = os.environ | {
        "AIFACTORY_ROOT": str(lab.root),
        "TMPDIR": str(temporary),
        "PYTHONPATH": os.pathsep.join(sys.path),
    }
    with (job.attempt_directory / "logs" / "driver.log").open("ab") as log:
        child = subprocess.Popen(
            [sys.executable, "-m", "aifactory.run", "--run", str(job.directory), "--attempt", "1"],
            stdout=log,
            stderr=log,
            env=env,
            start_new_session=True,
        )
    return child, job.attempt_directory


def session(child: subprocess.Popen[bytes]) -> list[int]:
    """Living processes of the attempt's session."""
    found = []
    for process in psutil.process_iter(["status"]):
        try:
            if os.getsid(process.pid) == child.pid and process.info["status"] != psutil.STATUS_ZOMBIE:
                found.append(process.pid)
        except (ProcessLookupError, PermissionError):
            continue
    return found


def test_two_workers_learn_what_one_learns_and_speak_with_one_voice(lab: Lab, temporary: Path) -> None:
    from aifactory.train import execute

    child, attempt = start(lab, tiny(parallelism__data=2), "two-workers", temporary)
    assert child.wait(timeout=START_SECONDS) == 0, (attempt / "logs" / "driver.log").read_text()[-3000:]
    assert session(child) == []
    payloads = [message.payload for message in Reader(attempt).new()]
    assert isinstance(payloads[0], Started)
    assert [one.step for one in payloads if isinstance(one, CheckpointSaved)] == [10, 20]
    assert payloads[-1] == Closed(count=len(payloads), outcome="succeeded")

    one = train_job(lab, tiny(), "one-worker")
    execute(one)
    alone = [m.loss for m in read_metrics(one.attempt_directory / "metrics.jsonl")]
    assert [m.loss for m in read_metrics(attempt / "metrics.jsonl")] == pytest.approx(alone, rel=1e-5)


def test_a_stop_ends_every_process_and_closes_the_channel(lab: Lab, temporary: Path) -> None:
    from aifactory.channel import Commands

    config = tiny(parallelism__data=2, steps=100_000, checkpointing__count=1)
    child, attempt = start(lab, config, "stopped-workers", temporary)
    reader, deadline = Reader(attempt), time.monotonic() + START_SECONDS
    while not any(isinstance(m.payload, Progress) and m.payload.done > 0 for m in reader.new()):
        assert child.poll() is None, (attempt / "logs" / "driver.log").read_text()[-3000:]
        assert time.monotonic() < deadline
        time.sleep(0.5)
    process = Process.load(attempt)
    assert process is not None
    assert process.session == child.pid
    Commands(attempt).send("stop")
    assert child.wait(timeout=10) == 143
    assert session(child) == []
    payloads = [message.payload for message in Reader(attempt).new()]
    assert isinstance(payloads[-1], Closed)
    assert (payloads[-1].outcome, payloads[-1].count) == ("cancelled", len(payloads))
