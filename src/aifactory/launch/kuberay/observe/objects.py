"""An attempt's objects as the API gives them, and how to read them: every part may be missing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

type Json = Mapping[str, Any]

NOTHING: Json = {}


@dataclass(frozen=True)
class Objects:
    """`former` are pods that have gone, as they were last seen; `pending` the list of Kueue's visibility API for the
    job's LocalQueue, None if it can't be had; `priority` whether its priority class exists, None if nobody looked;
    `others` names of RayJobs by uid; `known` that the RayJob has been there before."""

    rayjob: Json | None = None
    pods: Sequence[Json] = ()
    events: Sequence[Json] = ()
    former: Sequence[Json] = ()
    workload: Json | None = None
    podgroup: Json | None = None
    pending: Sequence[Json] | None = None
    nodes: Sequence[Json] = ()
    priority: bool | None = None
    others: Mapping[str, str] = field(default_factory=dict)
    known: bool = False

    @property
    def name(self) -> str:
        return text(self.rayjob, "metadata", "name") or "the RayJob"

    @property
    def status(self) -> Json:
        return part(self.rayjob, "status")

    @property
    def created(self) -> str | None:
        return text(self.rayjob, "metadata", "creationTimestamp") or None

    def label(self, name: str) -> str:
        """Of the RayJob."""
        return str(part(self.rayjob, "metadata", "labels").get(name) or "")

    def of(self, kind: str, reason: str | None = None) -> list[Json]:
        """The events about objects of a kind, oldest first."""
        found = [
            one
            for one in self.events
            if text(one, "involvedObject", "kind") == kind and (reason is None or one.get("reason") == reason)
        ]
        return sorted(found, key=when)


def part(value: object, *path: str) -> Json:
    """The mapping at `path`; an empty one if there is none."""
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value if isinstance(value, Mapping) else NOTHING


def text(value: object, *path: str) -> str:
    """The text at `path`, "" if there is none."""
    found = part(value, *path[:-1]).get(path[-1])
    return found if isinstance(found, str) else ""


def items(value: object, *path: str) -> list[Json]:
    """The mappings of the list at `path`."""
    found = part(value, *path[:-1]).get(path[-1])
    return [one for one in found if isinstance(one, Mapping)] if isinstance(found, list | tuple) else []


def condition(value: object, kind: str, *path: str) -> Json:
    """The condition of that type in `status.conditions`; empty if there is none."""
    found = items(value, *(path or ("status", "conditions")))
    return next((one for one in found if one.get("type") == kind), NOTHING)


def holds(value: object, kind: str) -> bool:
    """Whether the condition of that type is True."""
    return condition(value, kind).get("status") == "True"


def name_of(value: object) -> str:
    return text(value, "metadata", "name")


def when(event: Json) -> str:
    """When an event was last seen."""
    return (
        text(event, "lastTimestamp")
        or text(event, "series", "lastObservedTime")
        or text(event, "eventTime")
        or text(event, "firstTimestamp")
        or text(event, "metadata", "creationTimestamp")
    )


def statuses(pod: Json) -> Iterator[tuple[str, Json]]:
    """(`init` or `main`, status) of each container of a pod, the init containers first."""
    for kind, path in (("init", "initContainerStatuses"), ("main", "containerStatuses")):
        for one in items(pod, "status", path):
            yield kind, one


def one_line(message: str, limit: int = 300) -> str:
    """A message of Kubernetes on one line."""
    found = " ".join(message.split())
    return found if len(found) <= limit else found[: limit - 1] + "…"
