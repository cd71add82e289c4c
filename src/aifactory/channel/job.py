"""What the entrypoint hands to the code of a kind."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from pathlib import Path

from aifactory.channel.cancel import Cancelled
from aifactory.channel.commands import Commands
from aifactory.channel.stopping import Stopping
from aifactory.channel.writer import Writer
from aifactory.namespace import Namespace
from aifactory.spec import Context, RunSpec


@dataclass(frozen=True)
class Job:
    """One attempt at one run. `directory` is the run's, `attempt_directory` this attempt's (the working directory).

    `rows` says which row is at hand, for whoever reads of a failure: its number (from 1) by the input that it is read
    from, and that of the output. `stopping` is how a signal to stop gets through.
    """

    spec: RunSpec
    context: Context
    directory: Path
    attempt: int
    attempt_directory: Path
    namespace: Namespace
    writer: Writer
    commands: Commands
    stop: threading.Event = field(default_factory=threading.Event)
    rows: dict[str, int] = field(default_factory=dict)
    stopping: Stopping = field(default_factory=Stopping)

    def check_stop(self) -> None:
        """Raise Cancelled if somebody asked this run to stop. Code on the main thread is interrupted anyway."""
        if self.stop.is_set():
            raise Cancelled
