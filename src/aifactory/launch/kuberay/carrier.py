"""An attempt that is a RayJob of a cluster."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path

from aifactory.channel import Process
from aifactory.channel.payloads import Failure
from aifactory.errors import FactoryError
from aifactory.launch.clusters.kube import KubeCluster
from aifactory.launch.kuberay.ending import clear
from aifactory.launch.kuberay.hub import Hub, View
from aifactory.launch.kuberay.keeping import keep_evidence
from aifactory.launch.kuberay.look import Look
from aifactory.launch.kuberay.names import Names
from aifactory.launch.kuberay.observe import Seen
from aifactory.launch.kuberay.wire.kinds import RAYJOBS
from aifactory.launch.runs.attempts import Attempt, made_room
from aifactory.launch.runs.carrier import Phase
from aifactory.launch.runs.phases import Phases
from aifactory.launch.runs.result import Outcome
from aifactory.launch.runs.state import State

SETTLE_SECONDS, SILENT_SECONDS = 3.0, 20.0
"""A mount may show the last message later than the API server tells of the end."""
EXIT_SECONDS = 10.0
CONFIRM_SECONDS = 2.0
POLL_SECONDS = 0.2
TAKEN = re.compile(r"exit code 3\b|belongs to another process")


class RayJobCarrier:
    """Seen through the hub of its cluster. `writer` signs the rows of its phases. What is shown of the evidence of a
    `private` run are codes, counts and names."""

    def __init__(
        self,
        hub: Hub,
        cluster: KubeCluster,
        run: str,
        attempt: Attempt,
        path: Path,
        *,
        writer: str,
        private: bool = False,
    ):
        self.hub, self.cluster, self.attempt, self.path, self._writer = hub, cluster, attempt, path, writer
        self.private = private
        self._eye = Look(hub, patience=cluster.patience_seconds)
        self.names = Names(run, attempt.number)
        self.process: Process | None = None
        self._phases = Phases(path)
        rows = self._phases.all()
        self._entered = rows[-1] if rows else self._phases.enter("queued", writer=writer)
        # The Ray cluster that the entrypoint began on: on another one it would run a second time.
        self._on = next((row.on for row in reversed(rows) if row.on), "")
        self._made = time.monotonic()
        self._missing = False
        self._seen: Seen | None = None
        self._told: tuple[Phase, Seen] | None = None
        self._view: View | None = None
        self._ended_since: float | None = None
        self._heard = len(hub.said(0))
        self._asked = self._made

    @property
    def phase(self) -> Phase:
        return self._entered.phase

    @property
    def since(self) -> float:
        return self._entered.since

    @property
    def said(self) -> str:
        return self._seen.text if self._seen is not None else ""

    @property
    def grace(self) -> float:
        begun = self.process is not None and self.phase == "running"
        return self.cluster.stop_seconds if begun and not self._missing else 0.0

    def changes(self) -> list[str]:
        lines = []
        for line in self.hub.said(self._heard):
            self._heard += 1
            lines.append(f"{self.cluster.name}: {line}")
        if self.process is None:
            self.process = Process.load(self.path)
        self._look()
        seen = self._seen
        if seen is None or seen.phase == "unknown":
            return lines
        phase = self._now(seen)
        if phase != self.phase:
            on = self._cluster_name() if phase == "running" else ""
            self._entered = self._phases.enter(phase, writer=self._writer, text=seen.text, on=on)
            self._on = self._on or on
        if seen.phase != "ended" and not (self._told and self._told[0] == phase and seen.same(self._told[1])):
            self._told = (phase, seen)
            State(phase, seen.code, seen.text, seen.since or "").save(self.path)
            said = seen.line() if seen.phase == phase else f"{phase}: {seen.text}"
            lines.append(f"attempt {self.names.attempt} {said}")
        return lines

    def gone(self) -> tuple[Outcome, Failure] | None:
        found = self._found()
        if found is None:
            self._ended_since = None
            return None
        self._ended_since = self._ended_since or time.monotonic()
        silent = self._seen is not None and self._seen.outcome == "succeeded"
        return found if time.monotonic() - self._ended_since > (SILENT_SECONDS if silent else SETTLE_SECONDS) else None

    def wait(self) -> None:
        until = time.monotonic() + EXIT_SECONDS
        while time.monotonic() < until:
            self._look()
            view, seen = self._view, self._seen
            if self._missing or (seen and seen.phase == "ended") or (view and self._moved(view)):
                return
            time.sleep(POLL_SECONDS)

    def explained(self, outcome: Outcome) -> tuple[Outcome, Failure] | None:
        self._look()
        found = self._eye.explains(self._view) if self._view is not None else None
        if found is not None and found.outcome is not None and found.failure is not None:
            return found.outcome, found.failure
        if outcome != "cancelled":
            return None
        # Nobody sent a stop: whatever ended the driver took its pods, or stopped the Ray job.
        return self._found() or ("preempted", made_room())

    def end(self, outcome: Outcome, why: Failure | None = None) -> Iterator[str]:
        yield from keep_evidence(self._eye, self.hub, self.names, self.path, outcome, why, private=self.private)
        yield from clear(self.hub.api, self.names, self.attempt.spec)

    def _look(self) -> None:
        view = self.hub.view(self.names.job)
        if view.rayjob is not None:
            self._missing = False
        elif view.listed and not self._missing:
            self._missing = self._confirmed()
        self._view = view
        self._seen = self._eye.at(view)

    def _now(self, seen: Seen) -> Phase:
        if self.process is not None:
            return "running"
        return seen.phase if seen.phase in ("queued", "starting", "running") else self.phase

    def _found(self) -> tuple[Outcome, Failure] | None:
        if self._missing:
            return "lost", Failure(
                type="Lost", text=f"the RayJob {self.names.job} is gone; nothing of the run asked for it", code="lost"
            )
        seen, view = self._seen, self._view
        if seen is None or view is None or view.rayjob is None:
            return None
        if self.process is not None and self._moved(view):
            text = f"the RayJob {self.names.job} was stopped and is to start again: {seen.text}"
            return "preempted", Failure(type="Preempted", text=text, code="preempted")
        if seen.phase != "ended":
            return None
        if self.process is not None and seen.failure is not None and TAKEN.search(f"{seen.text} {seen.failure.trace}"):
            text = "its entrypoint was started a second time, which one attempt does not allow"
            return "preempted", Failure(type="Preempted", text=text, code="preempted")
        if seen.outcome == "succeeded" or seen.failure is None:
            return "lost", Failure(
                type="Lost",
                text=f"the RayJob {self.names.job} succeeded without a last message of the run",
                code="lost",
            )
        return seen.outcome or "failed_infrastructure", seen.failure

    def _moved(self, view: View) -> bool:
        """Whether the RayJob has left the Ray cluster that its entrypoint began on."""
        job = view.rayjob
        if job is None:
            return False
        if job["spec"].get("suspend") or (job.get("status") or {}).get("jobDeploymentStatus") == "Suspending":
            return True
        on = self._cluster_name()
        return bool(self._on and on and on != self._on)

    def _cluster_name(self) -> str:
        job = self._view.rayjob if self._view is not None else None
        return str(((job or {}).get("status") or {}).get("rayClusterName", ""))

    def _confirmed(self) -> bool:
        """Whether the server itself says that there is no such RayJob: the watch may be behind what was just made."""
        if time.monotonic() - self._asked < CONFIRM_SECONDS:
            return False
        self._asked = time.monotonic()
        try:
            return self.hub.api.get(RAYJOBS, self.names.job) is None
        except FactoryError:
            return False
