"""The containers of an attempt's pods: how each stands, and whose log is worth reading."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from aifactory.launch.kuberay.observe.asked import limit_of
from aifactory.launch.kuberay.observe.objects import Json, name_of, part, statuses, text
from aifactory.launch.runs.incident import ContainerState

TYPE = "ray.io/node-type"


@dataclass(frozen=True)
class Wanted:
    """A log, and the file that it is kept in."""

    pod: str
    container: str
    previous: bool
    rank: tuple[bool, bool, str]

    @property
    def file(self) -> str:
        return f"{self.pod}.{self.container}{'.previous' if self.previous else ''}.log"


def wanted_logs(pods: Iterable[Json]) -> list[Wanted]:
    """Of every container that has run; those that failed first, then the head's."""
    found = []
    for pod in pods:
        head = text(pod, "metadata", "labels", TYPE) == "head"
        for _, status in statuses(pod):
            name, state = text(status, "name"), part(status, "state")
            before, now = part(status, "lastState", "terminated"), part(state, "terminated") or part(state, "running")
            failed = any(one.get("exitCode") not in (None, 0) for one in (before, part(state, "terminated")))
            rank = (not failed, not head, name_of(pod))
            if now:
                found.append(Wanted(name_of(pod), name, False, rank))
            if before:
                found.append(Wanted(name_of(pod), name, True, rank))
    return sorted(found, key=lambda one: (*one.rank, one.container, one.previous))


def container_states(pods: Sequence[Json], files: set[str]) -> list[ContainerState]:
    """Every container; `files` are the logs that were kept."""
    found = []
    for pod in pods:
        for _, status in statuses(pod):
            name = text(status, "name")
            state = next(iter(part(status, "state")), "")
            now, before = part(status, "state", state), part(status, "lastState", "terminated")
            ended = now if state == "terminated" else before
            code, restarts = ended.get("exitCode"), status.get("restartCount")
            logs = [Wanted(name_of(pod), name, previous, (True, True, "")).file for previous in (False, True)]
            found.append(
                ContainerState(
                    pod=name_of(pod),
                    container=name,
                    node=text(pod, "spec", "nodeName"),
                    state=state,
                    reason=text(now, "reason") or text(before, "reason"),
                    exit_code=code if isinstance(code, int) else None,
                    restarts=restarts if isinstance(restarts, int) else 0,
                    memory_limit=limit_of(part(pod, "spec"), name),
                    log=next((file for file in logs if file in files), ""),
                )
            )
    return found
