"""An attempt that is a process on this machine."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from aifactory.channel import Process
from aifactory.channel.logs import driver_log
from aifactory.channel.payloads import Failure
from aifactory.launch.runs.attempts import Attempt
from aifactory.launch.runs.carrier import Phase
from aifactory.launch.runs.logs import last_lines
from aifactory.launch.runs.result import Outcome
from aifactory.launch.runs.session import end

POLL_SECONDS = 0.05
EXIT_SECONDS = 5.0
REAP_SECONDS = 1.0


class Processes:
    """The attempt whose directory is `path`. `child` is its process if this one started it: then an end before
    process.json is seen. Of a `private` run no line of the log is quoted."""

    phase: Phase = "running"
    said = ""
    # `end` is a SIGTERM first, which is obeyed as a stop command is.
    grace = 0.0

    def __init__(
        self, path: Path, attempt: Attempt, *, child: subprocess.Popen[bytes] | None = None, private: bool = False
    ):
        self.path, self.attempt, self.child, self.private = path, attempt, child, private
        self.process: Process | None = None
        started = datetime.fromisoformat(attempt.started)
        self.since = time.monotonic() - max(0.0, (datetime.now(UTC) - started).total_seconds())

    def changes(self) -> list[str]:
        if self.process is not None:
            return []
        self.process = Process.load(self.path)
        if self.process is None:
            return []
        return [f"attempt {self.attempt.number} runs as process {self.process.pid}"]

    def gone(self) -> tuple[Outcome, Failure] | None:
        if self.process is not None:
            if self.process.seen() != "gone":
                return None
            return "lost", self._failure("Lost", self._how(), "lost")
        if self.child is None or self.child.returncode is None:
            return None
        if Process.load(self.path) is not None:
            return None
        return "failed_infrastructure", self._failure(
            "NotStarted", f"the entrypoint never began: {self._how()}", "not_started"
        )

    def wait(self) -> None:
        until = time.monotonic() + EXIT_SECONDS
        while self.process is not None and self.process.alive() and time.monotonic() < until:
            time.sleep(POLL_SECONDS)

    def explained(self, outcome: Outcome) -> tuple[Outcome, Failure] | None:
        return None

    def end(self, outcome: Outcome, why: Failure | None = None) -> Iterator[str]:
        end(self.process, self.path)
        return iter(())

    def _how(self) -> str:
        code = None
        if self.child is not None and (self.process is None or self.child.pid == self.process.pid):
            # Another thread reaps it: it is gone from the process table before its exit code is known here.
            with suppress(subprocess.TimeoutExpired):
                code = self.child.wait(timeout=REAP_SECONDS)
        if code is None:
            return "the process is gone without a last message; exit code and signal unknown"
        how = f"was ended by signal {-code}" if code < 0 else f"exited with {code}"
        return f"the process {how} without a last message"

    def _failure(self, type: str, text: str, code: str) -> Failure:
        lines = [] if self.private else last_lines(driver_log(self.path))
        return Failure(type=type, text=text, trace="\n".join(lines), code=code)
