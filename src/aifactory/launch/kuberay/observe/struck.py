"""What happened to the pods of an attempt from outside: evictions, memory, nodes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from aifactory.launch.kuberay.observe import kai, kueue
from aifactory.launch.kuberay.observe.asked import limit_of
from aifactory.launch.kuberay.observe.objects import (
    Json,
    Objects,
    condition,
    name_of,
    one_line,
    part,
    statuses,
    text,
    when,
)

KILLED = 137
_DELETED = ("DeletedHeadPod", "DeletedWorkerPod")
_DISRUPTED = {
    "PreemptionByScheduler": "preempted",
    "DeletionByTaintManager": "node_lost",
    "DeletionByPodGC": "node_lost",
    "EvictionByEvictionAPI": "evicted",
    "TerminationByKubelet": "evicted",
}
_ORDER = ("preempted", "drained", "deactivated", "node_lost", "evicted", "oom_kill", "gang_stale")


@dataclass(frozen=True)
class Blow:
    """`code` of an ending; `text` names the pod, the container and its limit, or the node."""

    code: str
    text: str
    since: str = ""


def struck(objects: Objects) -> Blow | None:
    """The most telling of all that happened, None if nothing did. A preemption explains what it kills, and a lost node
    what ran there."""
    found = list(_blows(objects))
    return min(found, key=lambda one: _ORDER.index(one.code), default=None)


def _blows(objects: Objects) -> Iterator[Blow]:
    if put_out := kueue.evicted(objects.workload):
        yield Blow(*put_out)
    if taken := kai.evicted(objects):
        yield Blow(*taken)
    lost = {name_of(node) for node in objects.nodes if condition(node, "Ready").get("status") in ("Unknown", "False")}
    for pod in objects.pods:
        yield from _of(pod, lost)
    for event in objects.of("Pod"):
        # The pod may be gone by now: these two are all that stays.
        if event.get("reason") == "Preempted":
            yield Blow("preempted", f"{_about(event)}: {one_line(text(event, 'message'))}", when(event))
        elif event.get("reason") == "Evicted":
            yield Blow("evicted", f"{_about(event)}: {one_line(text(event, 'message'))}", when(event))
        elif event.get("reason") == "TaintManagerEviction" and not text(event, "message").startswith("Cancel"):
            yield Blow("node_lost", f"{_about(event)} was deleted, since its node stopped answering", when(event))
    for event in objects.of("RayCluster"):
        message = text(event, "message")
        if event.get("reason") in _DELETED and "OOMKilled" in message:
            yield Blow("oom_kill", f"{_deleted(message)}: a container was killed for memory", when(event))


def _of(pod: Json, lost: set[str]) -> Iterator[Blow]:
    name, node = name_of(pod), text(pod, "spec", "nodeName")
    hit = condition(pod, "DisruptionTarget")
    since = text(hit, "lastTransitionTime")
    reason = text(pod, "status", "reason")
    if hit.get("status") == "True" and (code := _DISRUPTED.get(text(hit, "reason"))):
        yield Blow(code, f"{name} on {node or 'no node'}: {one_line(text(hit, 'message')) or hit['reason']}", since)
    elif reason == "NodeLost" or (node in lost and text(pod, "status", "phase") in ("Running", "Pending", "Unknown")):
        yield Blow("node_lost", f"the node {node} of {name} has stopped answering", since)
    elif reason in ("Evicted", "NodeShutdown", "Terminated", "Shutdown", "UnexpectedAdmissionError", "NodeAffinity"):
        yield Blow("evicted", f"{name} on {node or 'no node'}: {one_line(text(pod, 'status', 'message')) or reason}")
    for _, status in statuses(pod):
        for state in (part(status, "state", "terminated"), part(status, "lastState", "terminated")):
            if text(state, "reason") == "OOMKilled":
                container = text(status, "name")
                limit = limit_of(pod, container)
                said = f"{container} of {name} was killed for memory" + (f", its limit is {limit}" if limit else "")
                yield Blow("oom_kill", said, text(state, "finishedAt"))


def ended_containers(pods: Sequence[Json]) -> list[str]:
    """`ray-worker of train-1-worker-x ended with exit code 1 (Error)`, for all that failed."""
    found = []
    for pod in pods:
        for _, status in statuses(pod):
            state = part(status, "state", "terminated") or part(status, "lastState", "terminated")
            code = state.get("exitCode")
            if isinstance(code, int) and code:
                reason = text(state, "reason")
                found.append(f"{text(status, 'name')} of {name_of(pod)} ended with exit code {code} ({reason})")
    return sorted(found)


def _about(event: Json) -> str:
    return text(event, "involvedObject", "name") or "a pod"


def _deleted(message: str) -> str:
    found = re.search(r"pod ([\w./-]+)", message, re.IGNORECASE)
    return found[1].rsplit("/", 1)[-1].rstrip(";,.") if found else "a pod"
