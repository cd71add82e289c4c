"""Proves the image that it runs in: trains, kills, resumes, compares, evaluates. Importing it imports no torch."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aifactory.channel.job import Job

__all__ = ["execute"]


def execute(job: Job) -> None:
    """Go through the steps of the smoke, and write `report.json` in the run's directory, whatever comes of it.

    Each training is a run inside the run: `public/runs/<name>/` in its directory, started by the entrypoint as every
    run is. Raises FactoryError, code "smoke", naming the step that is red; nothing after it is done.
    """
    from aifactory.smoke.steps import smoke

    smoke(job)
