"""From an attempt's objects to its state, the reason for it, and its outcome. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from aifactory.launch.kuberay.observe import kai, kueue
from aifactory.launch.kuberay.observe.asked import asked, in_words, pods_asked
from aifactory.launch.kuberay.observe.ending import conclude, ended
from aifactory.launch.kuberay.observe.objects import Objects, text
from aifactory.launch.kuberay.observe.pods import ready, scheduler_says, troubles, unplaced
from aifactory.launch.kuberay.observe.seen import Seen, parse_time
from aifactory.launch.kuberay.observe.struck import struck
from aifactory.launch.runs.reasons import REASONS

PATIENCE_SECONDS = 600.0
"""How long a wait that only a person can end goes on."""
TAKEN_SECONDS = 30.0
WRONG = 60


def observe(
    rayjob: Mapping[str, Any] | None,
    pods: Sequence[Mapping[str, Any]] = (),
    events: Sequence[Mapping[str, Any]] = (),
    *,
    former: Sequence[Mapping[str, Any]] = (),
    workload: Mapping[str, Any] | None = None,
    podgroup: Mapping[str, Any] | None = None,
    pending: Sequence[Mapping[str, Any]] | None = None,
    nodes: Sequence[Mapping[str, Any]] = (),
    priority: bool | None = None,
    others: Mapping[str, str] | None = None,
    known: bool = False,
    now: datetime | None = None,
    patience: float = PATIENCE_SECONDS,
) -> Seen:
    """What can be said of an attempt now. Everything is the API's JSON, and any of it may be missing.

    `events` are those of the RayJob, its RayCluster, its pods, its Workload and its PodGroup; `former` pods that have
    gone (`Recall`); `pending` the items of Kueue's visibility API for the LocalQueue; `nodes` those that its pods are
    on; `priority`: whether its priority class exists; `others`: names of RayJobs by uid, to say who took its place;
    `known`: the RayJob has been there, so that None means that it has gone. A wait that only a person can end becomes
    an ending after `patience` seconds. A RayJob that the operator refuses (`invalid`) must be deleted at once: Kueue
    would keep its quota for good.
    """
    now = now or datetime.now(UTC)
    objects = Objects(
        rayjob=rayjob,
        pods=pods,
        events=events,
        former=former,
        workload=workload,
        podgroup=podgroup,
        pending=pending,
        nodes=nodes,
        priority=priority,
        others=others or {},
        known=known,
    )
    if over := ended(objects):
        return over
    if rayjob is None:
        return Seen("unknown", "absent", "there is no RayJob yet")
    return _without_hope(_alive(objects, now), objects, now, patience)


def explain(
    rayjob: Mapping[str, Any] | None,
    pods: Sequence[Mapping[str, Any]] = (),
    events: Sequence[Mapping[str, Any]] = (),
    *,
    former: Sequence[Mapping[str, Any]] = (),
    workload: Mapping[str, Any] | None = None,
    podgroup: Mapping[str, Any] | None = None,
    nodes: Sequence[Mapping[str, Any]] = (),
    others: Mapping[str, str] | None = None,
) -> Seen | None:
    """What happened to the pods that explains a driver which says that its code failed; None if nothing did. As
    `observe` otherwise."""
    objects = Objects(
        rayjob=rayjob,
        pods=pods,
        events=events,
        former=former,
        workload=workload,
        podgroup=podgroup,
        nodes=nodes,
        others=others or {},
    )
    blow = struck(objects)
    return conclude(objects, blow.code, blow.text, blow.since) if blow is not None else None


def gave_up(seen: Seen | None, budget: str, seconds: float) -> Seen:
    """The ending by one of the launcher's own budgets: queue, start, run or stall. What it waited for is part of it."""
    last = f"; last seen {seen.phase}: {seen.text}" if seen is not None and seen.phase != "ended" else ""
    return conclude(Objects(), f"deadline_{budget}", f"the {budget} budget of {seconds:g} s is over{last}")


def _alive(objects: Objects, now: datetime) -> Seen:
    if waiting := kueue.waits(objects, now):
        return waiting
    job = text(objects.status, "jobStatus")
    if job == "RUNNING" or (job and text(objects.status, "jobDeploymentStatus") == "Running" and job != "PENDING"):
        return _running(objects)
    without_node = [pod for pod in objects.pods if unplaced(pod)]
    # What is wrong with a pod that has its place is not mended by more room.
    if without_node and not any(one.weight >= WRONG for one in troubles(objects)):
        return _for_nodes(objects, without_node)
    return _starting(objects, now)


def _running(objects: Objects) -> Seen:
    total = pods_asked(objects.rayjob)
    since = text(objects.status, "rayJobInfo", "startTime") or text(objects.status, "startTime")
    if blow := struck(objects):
        return Seen("running", "hurt", f"the driver runs, but {blow.text}", blow.since or since, state=(blow.code,))
    nodes = sorted({node for pod in objects.pods if (node := text(pod, "spec", "nodeName"))})
    on = f" on {', '.join(nodes)}" if 0 < len(nodes) <= 4 else f" on {len(nodes)} nodes" if nodes else ""
    said = f"the driver runs, {total} pod{'s' if total != 1 else ''}{on}"
    return Seen("running", "running", said, since or None, state=("running",))


def _for_nodes(objects: Objects, without_node: list[Mapping[str, Any]]) -> Seen:
    placed = len(objects.pods) - len(without_node)
    if gang := kai.waits(objects, placed):
        return gang
    message, since = scheduler_says(without_node)
    total = max(pods_asked(objects.rayjob), len(objects.pods))
    if "persistentvolumeclaim" in message:
        said = f"{placed} of {total} pods have a node; {message}"
        return Seen("starting", "mounts", said, since or objects.created, state=(str(placed), str(total)))
    said = f"{placed} of {total} pods have a node; asks for {in_words(asked(objects.rayjob)) or 'nothing'}"
    said += f"; {message}" if message else "; the scheduler has not said why it waits"
    return Seen("queued", "no_room", said, since or objects.created, state=(str(placed), str(total)))


def _starting(objects: Objects, now: datetime) -> Seen:
    deployment = text(objects.status, "jobDeploymentStatus")
    began = parse_time(objects.created)
    if not deployment and not objects.pods:
        silent = began is not None and (now - began).total_seconds() > TAKEN_SECONDS
        said = "the KubeRay operator has not taken it up" + (", it may be down" if silent else " yet")
        return Seen("starting", "not_taken", said, objects.created)
    total = max(pods_asked(objects.rayjob), len(objects.pods))
    able = sum(ready(pod) for pod in objects.pods)
    found = [one for one in troubles(objects) if not (one.code.startswith("pod_") and len(objects.pods) >= total)]
    since = text(objects.status, "startTime") or objects.created
    if found:
        worst = found[0]
        said = f"{worst.text}; {able} of {total} pods ready"
        return Seen("starting", worst.code, said, worst.since or since, state=(worst.state, str(able)))
    if not objects.pods:
        return Seen("starting", "makes_pods", f"its {total} pods are being made", since)
    if able < total:
        late = sorted(text(pod, "metadata", "name") for pod in objects.pods if not ready(pod))
        waits_for = f", waits for {', '.join(late[:3])}" if late else ""
        return Seen("starting", "unready", f"{able} of {total} pods ready{waits_for}", since, state=(str(able),))
    return Seen("starting", "driver", f"all {total} pods are ready, the driver is being started", since)


def _without_hope(seen: Seen, objects: Objects, now: datetime, patience: float) -> Seen:
    began = parse_time(seen.since)
    if not REASONS[seen.code].hopeless or began is None or (now - began).total_seconds() < patience:
        return seen
    return conclude(objects, seen.code, seen.text, seen.since or "", {"waited_seconds": patience})
