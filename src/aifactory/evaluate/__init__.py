"""Scores one checkpoint on the suites that an `evaluate` spec names. Importing this package does not import torch."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aifactory.channel.job import Job

__all__ = ["execute"]


def execute(job: Job) -> None:
    """Score the spec's checkpoint on each of its suites, in their order.

    Writes `results/<suite>.parquet` (one row per item) and `results.json` in the run's directory; sends Progress with
    items and one Scored per suite. Raises FactoryError (codes "integrity", "checkpoint", "suite").
    """
    from aifactory.evaluate.driver import evaluate

    evaluate(job)
