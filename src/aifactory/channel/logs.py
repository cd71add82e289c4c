"""Where an attempt keeps what its processes print."""

from __future__ import annotations

from pathlib import Path


def driver_log(attempt_directory: Path) -> Path:
    """Standard output and error of the attempt's processes, whole; in pods of the driver alone."""
    return attempt_directory / "logs" / "driver.log"


def worker_log(attempt_directory: Path, rank: int) -> Path:
    """What a worker in a pod prints. A file for each: appending to one from several machines loses lines."""
    return attempt_directory / "logs" / f"worker-{rank}.log"
