"""What happened to the pods of an attempt from outside: evictions, memory, nodes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from aifactory.launch.kuberay.observe import kai, kueue
from aifactory.launch.kuberay.observe.asked import limit_of, template_of, workers_asked
from aifactory.launch.kuberay.observe.objects import (
    Json,
    Objects,
    condition,
    items,
    name_of,
    one_line,
    part,
    statuses,
    text,
    when,
)

KILLED = 137
DELETED = {"DeletedHeadPod": "head", "DeletedWorkerPod": "workers"}
_DISRUPTED = {
    "PreemptionByScheduler": "preempted",
    "DeletionByTaintManager": "node_lost",
    "DeletionByPodGC": "node_lost",
    "EvictionByEvictionAPI": "evicted",
    "TerminationByKubelet": "evicted",
}
_FAILED = ("Evicted", "NodeShutdown", "Terminated", "Shutdown", "UnexpectedAdmissionError", "NodeAffinity")
_TELLING = (
    *("preempted", "drained", "deactivated", "node_lost", "evicted", "oom_kill", "gang_stale"),
    *("pod_killed", "pod_lost"),
)
"""The first explain the later ones: a preemption kills, and a lost node loses what ran there."""
_EXIT = re.compile(r"ExitCode:(-?\d+),.*?Reason:(\w*)")


@dataclass(frozen=True)
class Blow:
    """`code` of an ending; `text` names the pod, the container and its limit, or the node."""

    code: str
    text: str
    since: str = ""


def struck(objects: Objects) -> Blow | None:
    """The most telling of all that happened, None if nothing did."""
    found = [one for one in _blows(objects) if one is not None]
    return min(found, key=lambda one: _TELLING.index(one.code), default=None)


def died(event: Json) -> tuple[str, int, str] | None:
    """(pod, exit code, reason) of an event by which the operator deletes a pod that ended: KubeRay takes it away at
    once, and this is all that stays."""
    if event.get("reason") not in DELETED:
        return None
    message = text(event, "message")
    pod = re.search(r" Pod (?:[\w-]+/)?([\w.-]+)", message)
    found = _EXIT.search(message)
    return (pod[1] if pod else "a pod"), int(found[1]) if found else 0, found[2] if found else ""


def ended_containers(pods: Sequence[Json]) -> list[str]:
    """`worker of train-1-worker-x ended with exit code 1 (Error)`, for all that failed."""
    found = []
    for pod in pods:
        for _, status in statuses(pod):
            state = part(status, "state", "terminated") or part(status, "lastState", "terminated")
            code = state.get("exitCode")
            if isinstance(code, int) and code:
                reason = text(state, "reason")
                found.append(f"{text(status, 'name')} of {name_of(pod)} ended with exit code {code} ({reason})")
    return sorted(found)


def _blows(objects: Objects) -> Iterator[Blow | None]:
    if put_out := kueue.evicted(objects.workload, objects.others):
        yield Blow(*put_out)
    if taken := kai.evicted(objects):
        yield Blow(*taken)
    lost = {name_of(node) for node in objects.nodes if condition(node, "Ready").get("status") in ("Unknown", "False")}
    for pod in (*objects.pods, *objects.former):
        yield from _of(pod, lost)
    for event in objects.of("Pod"):
        yield _told(event)
    for event in objects.of("RayCluster"):
        yield deleted(event, objects)
    yield _replaced(objects)


def _of(pod: Json, lost: set[str]) -> Iterator[Blow]:
    name, node = name_of(pod), text(pod, "spec", "nodeName")
    hit = condition(pod, "DisruptionTarget")
    reason = text(pod, "status", "reason")
    if hit.get("status") == "True" and (code := _DISRUPTED.get(text(hit, "reason"))):
        said = one_line(text(hit, "message")) or text(hit, "reason")
        yield Blow(code, f"{name} on {node or 'no node'}: {said}", text(hit, "lastTransitionTime"))
    elif reason == "NodeLost" or (node in lost and text(pod, "status", "phase") in ("Running", "Pending", "Unknown")):
        yield Blow("node_lost", f"the node {node} of {name} has stopped answering")
    elif reason in _FAILED:
        yield Blow("evicted", f"{name} on {node or 'no node'}: {one_line(text(pod, 'status', 'message')) or reason}")
    for _, status in statuses(pod):
        for state in (part(status, "state", "terminated"), part(status, "lastState", "terminated")):
            container, at = text(status, "name"), text(state, "finishedAt")
            if text(state, "reason") == "OOMKilled":
                yield Blow("oom_kill", oom(container, name, limit_of(part(pod, "spec"), container)), at)
            elif state.get("exitCode") == KILLED:
                yield Blow("pod_killed", f"{container} of {name} was killed (SIGKILL)", at)


def _told(event: Json) -> Blow | None:
    """Of a pod that may be gone by now."""
    name, message = text(event, "involvedObject", "name") or "a pod", one_line(text(event, "message"))
    reason = event.get("reason")
    if reason == "Preempted":
        return Blow("preempted", f"{name}: {message}", when(event))
    if reason == "Evicted":
        return Blow("evicted", f"{name}: {message}", when(event))
    if reason == "TaintManagerEviction" and not message.startswith("Cancel"):
        return Blow("node_lost", f"{name} was deleted, since its node stopped answering or was tainted", when(event))
    return None


def deleted(event: Json, objects: Objects) -> Blow | None:
    """A kill, by the event with which the operator took the pod away."""
    found = died(event)
    if found is None:
        return None
    pod, code, reason = found
    spec = part(template_of(objects.rayjob, DELETED[text(event, "reason")]), "spec")
    container = text(next(iter(items(spec, "containers")), None), "name") or "a container"
    if reason == "OOMKilled":
        return Blow("oom_kill", oom(container, pod, limit_of(spec, container)), when(event))
    return Blow("pod_killed", f"{container} of {pod} was killed (SIGKILL)", when(event)) if code == KILLED else None


def _replaced(objects: Objects) -> Blow | None:
    """A pod that the operator made anew, when nothing else tells that the first one has gone."""
    made = [one for one in objects.of("RayCluster") if one.get("reason") == "CreatedWorkerPod"]
    wanted = workers_asked(objects.rayjob)
    if not wanted or len(made) <= wanted:
        return None
    there = {name_of(pod) for pod in objects.pods}
    names = [text(one, "message").rsplit("/", 1)[-1] for one in made]
    gone = next((name for name in names if name not in there), names[0])
    ends = {end[0]: end for one in objects.of("RayCluster") if (end := died(one))}
    how = f"ended with exit code {ends[gone][1]} ({ends[gone][2]})" if gone in ends else "has gone"
    return Blow("pod_lost", f"{gone} {how}, and the operator made another", when(made[wanted]))


def oom(container: str, pod: str, limit: str) -> str:
    """The sentence, with the limit where there is one."""
    return f"{container} of {pod} was killed for memory" + (f", its limit is {limit}" if limit else "")
