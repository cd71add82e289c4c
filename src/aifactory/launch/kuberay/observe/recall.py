"""Pods that have gone, kept while their end may still be asked about."""

from __future__ import annotations

from collections.abc import Iterable

from aifactory.launch.kuberay.observe.objects import Json, condition, part, statuses, text

MOST = 64


class Recall:
    """Of one attempt. An evicted pod is there for its grace only, and no event tells of it afterwards."""

    def __init__(self) -> None:
        self._seen: dict[str, Json] = {}

    def take(self, pods: Iterable[Json]) -> list[Json]:
        """Remember these; the ones that came to a bad end and are no longer among them."""
        now = {_key(pod): pod for pod in pods}
        self._seen |= {key: pod for key, pod in now.items() if _marked(pod)}
        for key in list(self._seen)[:-MOST]:
            del self._seen[key]
        return [pod for key, pod in self._seen.items() if key not in now]


def _key(pod: Json) -> str:
    return text(pod, "metadata", "uid") or text(pod, "metadata", "name")


def _marked(pod: Json) -> bool:
    hit = condition(pod, "DisruptionTarget").get("status") == "True" or text(pod, "status", "reason")
    states = (part(one, state, "terminated") for _, one in statuses(pod) for state in ("state", "lastState"))
    return bool(hit) or any(state.get("exitCode") not in (None, 0) for state in states)
