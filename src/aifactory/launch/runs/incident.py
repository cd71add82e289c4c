"""The evidence of an attempt that did not come to a good end: `incident/` in its directory, told by `incident.json`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from aifactory.launch.runs.result import Outcome
from aifactory.store import Store

FOLDER, FILE = "incident", "incident.json"


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class ContainerState(_Part):
    """One container of one pod; `state` is running, waiting or terminated, `log` its file in `incident/`, if any."""

    pod: str
    container: str
    node: str = ""
    state: str = ""
    reason: str = ""
    exit_code: int | None = None
    restarts: int = 0
    memory_limit: str = ""
    log: str = ""


class Told(_Part):
    """An event of the cluster. `message` is empty for a private run: it stands in `incident/events.json`."""

    at: str
    kind: str
    name: str
    reason: str
    message: str = ""
    count: int = 1


class Kept(_Part):
    """A file in `incident/`; `cut`: only its end was kept."""

    name: str
    bytes: int
    cut: bool = False


class Incident(_Part):
    """Nothing in it came out of a container, so that it may be shown of a private run too. `missing` says what could
    not be had, a line each. Times are UTC, ISO 8601."""

    run: str
    attempt: int
    cluster: str
    job: str
    outcome: Outcome
    code: str
    text: str
    fix: str = ""
    at: str
    since: str = ""
    containers: tuple[ContainerState, ...] = ()
    events: tuple[Told, ...] = ()
    files: tuple[Kept, ...] = ()
    missing: tuple[str, ...] = ()

    @classmethod
    def load(cls, attempt_directory: Path) -> Incident | None:
        """None if there is none, or it can't be read: evidence is never a reason to fail."""
        try:
            data = Store(attempt_directory / FOLDER).read(FILE)
            return None if data is None else cls.model_validate_json(data)
        except (OSError, ValidationError):
            return None

    def summary(self) -> dict[str, str]:
        """What a person reads first."""
        found = {
            "outcome": self.outcome,
            "why": self.text,
            "code": self.code,
            "since": self.since,
            "fix": self.fix,
            "cluster": f"{self.cluster}, RayJob {self.job}",
            "kept": f"{len(self.files)} files, {sum(one.bytes for one in self.files):,} bytes",
            "missing": "; ".join(self.missing),
        }
        return {name: value for name, value in found.items() if value}

    def container_rows(self) -> list[dict[str, Any]]:
        """Those that failed first."""
        rows = sorted(self.containers, key=lambda one: (one.exit_code in (None, 0), one.pod, one.container))
        return [
            {
                "pod": one.pod,
                "container": one.container,
                "state": f"{one.state} {one.reason}".strip(),
                "exit code": "" if one.exit_code is None else str(one.exit_code),
                "restarts": str(one.restarts),
                "memory limit": one.memory_limit,
                "node": one.node,
                "log": one.log,
            }
            for one in rows
        ]

    def event_rows(self, most: int = 15) -> list[dict[str, Any]]:
        """The newest, oldest first."""
        return [
            {"at": one.at[11:19], "about": f"{one.kind} {one.name}", "reason": one.reason, "message": one.message}
            for one in self.events[-most:]
        ]
