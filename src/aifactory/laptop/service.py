"""One long-lived process of the laptop: how it is started, found again, and what its log says."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict

from aifactory.channel import Process
from aifactory.errors import FactoryError
from aifactory.laptop.ports import HOST
from aifactory.laptop.processes import end, of_session, process_of

Name = Literal["code server", "daemon", "web server"]
LOG_LINES = 15


class Service(BaseModel):
    """A started service; the leader of a session of its own, so that Ctrl-C in a terminal doesn't reach it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: Name
    process: Process
    log: Path

    @classmethod
    def start(cls, name: Name, command: Sequence[str], environment: Mapping[str, str], cwd: Path, log: Path) -> Service:
        """Start it; its output goes to `log`."""
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("wb") as output:
            child = subprocess.Popen(
                command,
                env=dict(environment),
                cwd=cwd,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        process = process_of(child.pid)
        if process is None:
            raise FactoryError(f"the {name} ended at once", found=f"exit code {child.wait()}", code="service")
        # It becomes its own session's leader in the child, a moment after the fork that we may have looked at.
        return cls(name=name, process=process.model_copy(update={"session": child.pid}), log=log)

    def alive(self) -> bool:
        """True while this very process runs."""
        return self.process.alive()

    def stop(self) -> list[int]:
        """End its whole session; pids that could not be ended."""
        return end(self.members)

    def members(self) -> list[int]:
        """Living processes of its session; none when the number was given to another session."""
        leader = process_of(self.process.pid)
        if leader is not None and leader.start != self.process.start:
            return []
        return of_session(self.process.session)

    def check(self) -> None:
        """FactoryError (code "service") with the end of its log, when it has ended."""
        if not self.alive():
            lines = self.log.read_text(errors="replace").strip().splitlines()[-LOG_LINES:]
            raise FactoryError(
                f"the {self.name} ended by itself", found="\n    ".join(lines), fix=f"read {self.log}", code="service"
            )


def command(name: Name, root: Path, workspace: Path, port: int, location: str) -> list[str]:
    """What starts the service, from the environment that runs this. `location` is the code server's name in the UI."""
    scripts = Path(sys.executable).parent
    if name == "code server":
        place = ["-m", "definitions", "-d", str(root), "-h", HOST, "-p", str(port), "--location-name", location]
        start = [str(scripts / "dagster"), "code-server", "start", "--log-level", "warning"]
        return [*start, "--use-python-environment-entry-point", *place]
    if name == "daemon":
        return [str(scripts / "dagster-daemon"), "run", "-w", str(workspace)]
    return [str(scripts / "dagster-webserver"), "-h", HOST, "-p", str(port), "-w", str(workspace)]


def path_with_scripts() -> str:
    """PATH with this environment's scripts in front."""
    return os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
