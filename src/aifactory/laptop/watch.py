"""Several Dagster runs, followed side by side."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field

from aifactory.laptop.events import Event
from aifactory.laptop.graphql import ENDED, PAUSE_SECONDS, Client


@dataclass
class Followed:
    """One run: `status` and `error` (what its first failed step said) as far as they are known."""

    id: str
    job: str
    tags: dict[str, str]
    status: str = "NOT_STARTED"
    error: str | None = None
    cursor: str | None = field(default=None, repr=False)

    @property
    def ended(self) -> bool:
        return self.status in ENDED


class Watch:
    """The runs that were added, by id."""

    def __init__(self, client: Client):
        self.client = client
        self.runs: dict[str, Followed] = {}

    def add(self, run_id: str) -> Followed:
        """Follow this run too."""
        if run_id not in self.runs:
            run = self.client.run(run_id)
            self.runs[run_id] = Followed(run_id, str(run["jobName"]), dict(run["tags"]))
        return self.runs[run_id]

    def poll(self) -> Iterator[tuple[Followed, Event]]:
        """What the runs said since the last call; their `status` is new when it has been read to its end."""
        for run in list(self.runs.values()):
            if run.ended:
                continue
            status = str(self.client.run(run.id)["status"])
            events, run.cursor = self.client.events(run.id, run.cursor)
            for event in events:
                if event.error and run.error is None:
                    run.error = event.error
                yield run, event
            run.status = status

    def settle(self, job: str, seconds: float, pause: float = PAUSE_SECONDS) -> Iterator[tuple[Followed, Event]]:
        """What the runs of a job still say, until all of them have ended; for at most `seconds`."""
        until = time.monotonic() + seconds
        while any(run.job == job for run in self.living()) and time.monotonic() < until:
            yield from self.poll()
            time.sleep(pause)

    def living(self) -> list[Followed]:
        """Those that have not ended."""
        return [run for run in self.runs.values() if not run.ended]
