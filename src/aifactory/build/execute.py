"""From a spec of kind build to a published snapshot, or to red checks."""

from __future__ import annotations

from aifactory.channel import Job


def execute(job: Job) -> None:
    """Build the stage that the spec names, or (with `only_checks`) run its checks on the snapshot that it names."""
    raise NotImplementedError
