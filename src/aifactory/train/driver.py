"""Runs the training loop in this process, or in Ray Train's workers: where there are several, and where the head of the
run's own cluster only drives."""

from __future__ import annotations

from functools import partial

from aifactory.channel import Cancelled
from aifactory.channel.job import Job
from aifactory.pod.cluster import pods
from aifactory.pod.surroundings import stop_seconds
from aifactory.train.checkpoint import Checkpoints
from aifactory.train.seat import Seat
from aifactory.train.stops import Stops


def train(job: Job) -> None:
    """Train as `aifactory.train.execute` says."""
    seat = Seat.of(job)
    gently = partial(job.stopping.gently, stop_seconds())
    if seat.config.parallelism.workers > 1 or pods():
        from aifactory.train.workers import train_with_ray

        train_with_ray(job, seat)
    else:
        from aifactory.train.loop import run

        run(seat, job.writer, Stops(job.stop.is_set, gently))
    last = Checkpoints(seat.directory, seat.attempt, seat.spec.hash).path(seat.config.steps)
    if job.stop.is_set() and not last.is_dir():
        raise Cancelled
