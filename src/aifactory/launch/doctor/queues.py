"""Queues and priorities that clusters.toml names: whether the scheduler has them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from aifactory.launch.clusters.registry import close_matches
from aifactory.launch.doctor.line import Line, unseen
from aifactory.launch.kuberay.api import Api
from aifactory.launch.kuberay.wire.errors import ApiError
from aifactory.launch.kuberay.wire.kinds import (
    CLUSTER_QUEUES,
    KAI_QUEUES,
    KUEUE_PRIORITIES,
    LOCAL_QUEUES,
    PRIORITIES,
    Kind,
)

KUEUE, KAI = "Kueue", "KAI"


def queues(api: Api) -> Iterator[Line]:
    """A line for each queue and each priority."""
    cluster = api.cluster
    if cluster.scheduler == "none":
        yield Line("queue", "ok", "none: Kubernetes' own scheduler places the pods, without a gang")
        return
    program, kind, priorities = (
        (KUEUE, LOCAL_QUEUES, KUEUE_PRIORITIES) if cluster.scheduler == "kueue" else (KAI, KAI_QUEUES, PRIORITIES)
    )
    for name in cluster.queues:
        yield from _each(api, f"queue {name}", name, kind, program, _local_queue if program == KUEUE else _kai_queue)
    for name in cluster.priorities:
        yield from _each(api, f"priority {name}", name, priorities, program, _priority)


def _each(api: Api, line: str, name: str, kind: Kind, program: str, said: Any) -> Iterator[Line]:
    try:
        if (found := api.get(kind, name)) is not None:
            yield said(api, line, found)
            return
        known = [one["metadata"]["name"] for one in api.list(kind)]
    except ApiError as error:
        if error.code == "not_found":
            yield Line(
                line,
                "broken",
                f"the cluster knows no {kind.name} ({kind.api}): {program} isn't installed, or is another version",
                f"install {program}, or correct scheduler of [{api.cluster.name}] in clusters.toml",
            )
        else:
            yield unseen(line, error, f"whether the {kind.name} is there")
        return
    where = f" in {api.namespace}" if kind.namespaced else ""
    yield Line(
        line,
        "broken",
        f"there is no {kind.name} {name}{where}; there is {close_matches(name, known)}",
        f"create it, or correct [{api.cluster.name}] in clusters.toml: a run that names it would wait for ever",
    )


def _local_queue(api: Api, line: str, found: dict[str, Any]) -> Line:
    of, status = found["spec"]["clusterQueue"], found.get("status", {})
    active = _active(found)
    if active is None or active["status"] != "True":
        said = active["message"] if active else "Kueue has said nothing about it yet"
        with contextlib.suppress(ApiError):  # which our account may not read: it says why the queue is closed
            said = (_active(api.get(CLUSTER_QUEUES, of) or {}) or {}).get("message", said)
        return Line(line, "broken", f"closed (ClusterQueue {of}): {said}", f"kubectl describe clusterqueue {of}")
    counts = f"{status.get('admittedWorkloads', 0)} running, {status.get('pendingWorkloads', 0)} waiting"
    return Line(line, "ok", f"open, of ClusterQueue {of}: {counts}")


def _active(found: dict[str, Any]) -> dict[str, Any] | None:
    conditions = found.get("status", {}).get("conditions", [])
    return next((one for one in conditions if one["type"] == "Active"), None)


def _kai_queue(api: Api, line: str, found: dict[str, Any]) -> Line:
    if children := found.get("status", {}).get("childQueues"):
        fix = "name one of them in clusters.toml: only a queue without children takes runs"
        return Line(line, "broken", f"it has the queues {', '.join(children)} below it", fix)
    gpu = found["spec"].get("resources", {}).get("gpu", {})
    return Line(line, "ok", f"of {found['spec'].get('parentQueue') or 'no parent'}, GPU quota {gpu.get('quota', 0)}")


def _priority(api: Api, line: str, found: dict[str, Any]) -> Line:
    return Line(line, "ok", f"value {found.get('value')}")
