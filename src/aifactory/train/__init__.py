"""Trains the model that a `train` spec describes. Importing this package imports neither torch nor ray."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aifactory.channel.job import Job

__all__ = ["execute"]


def execute(job: Job) -> None:
    """Train to the last step of `job.spec.config`, resuming from the run's newest valid checkpoint.

    Writes `checkpoints/step-<8 digits>/` in the run's directory and `metrics.jsonl` in the attempt's; sends Progress
    and CheckpointSaved. Raises FactoryError (codes "nan", "checkpoint", "stale-attempt", ...) and, when it is asked to
    stop between two steps, aifactory.channel's cancellation.
    """
    from aifactory.train.driver import train

    train(job)
