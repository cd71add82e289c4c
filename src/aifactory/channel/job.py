"""What the entrypoint hands to the code of a kind."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from pathlib import Path

from aifactory.channel.cancel import Cancelled
from aifactory.channel.commands import Commands
from aifactory.channel.writer import Writer
from aifactory.namespace import Namespace
from aifactory.spec import Context, RunSpec


@dataclass(frozen=True)
class Job:
    """One attempt at one run. `directory` is the run's, `attempt_directory` this attempt's (the working directory)."""

    spec: RunSpec
    context: Context
    directory: Path
    attempt: int
    attempt_directory: Path
    namespace: Namespace
    writer: Writer
    commands: Commands
    stop: threading.Event = field(default_factory=threading.Event)

    def check_stop(self) -> None:
        """Raise Cancelled if somebody asked this run to stop. Code on the main thread is interrupted anyway."""
        if self.stop.is_set():
            raise Cancelled
