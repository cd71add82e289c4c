"""How a training hears that it is to stop, and how long it may take."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path

NAME = "stopping"
"""In the attempt's directory: written by the driver, read by worker 0."""


def _never() -> bool:
    return False


@dataclass(frozen=True)
class Stops:
    """`asked` is looked at in every step; inside `gently` a stop waits for that, so that the step can be saved."""

    asked: Callable[[], bool] = _never
    gently: Callable[[], AbstractContextManager[None]] = nullcontext

    @classmethod
    def by_file(cls, attempt_directory: Path) -> Stops:
        """For worker 0, which is in another process than the driver."""
        return cls((attempt_directory / NAME).exists)
