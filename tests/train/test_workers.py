"""Several workers under a real Ray: two starts, the only ones in this folder."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from aifactory.channel import CheckpointSaved, Closed, Process, Progress, Reader, Started
from aifactory.train.metrics import read_metrics
from tests.train.lab import Lab, tiny, train_job
from tests.train.local_ray import START_SECONDS, session, start

pytest.importorskip("ray", reason="ray is not installed here")


def test_two_workers_learn_what_one_learns_and_speak_with_one_voice(lab: Lab, two_workers: Path) -> None:
    from aifactory.train import execute

    attempt = two_workers
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
