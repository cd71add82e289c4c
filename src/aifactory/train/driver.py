"""Runs the training loop in this process, or in Ray Train's workers when there are several."""

from __future__ import annotations

from aifactory.channel.job import Job
from aifactory.train.seat import Seat


def train(job: Job) -> None:
    """Train as `aifactory.train.execute` says."""
    seat = Seat.of(job)
    if seat.config.parallelism.workers > 1:
        from aifactory.train.workers import train_with_ray

        train_with_ray(job, seat)
    else:
        from aifactory.train.loop import run

        run(seat, job.writer, job.check_stop)
