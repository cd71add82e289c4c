"""The kinds of objects that tell how an attempt fares, and whose an object is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from aifactory.launch.clusters.kube import KubeCluster
from aifactory.launch.kuberay.objects import ATTEMPT, MANAGED, RUN
from aifactory.launch.kuberay.wire.kinds import EVENTS, NODES, POD_GROUPS, PODS, RAYCLUSTERS, RAYJOBS, WORKLOADS, Kind
from aifactory.launch.runs.names import job_name

type Json = dict[str, Any]


@dataclass(frozen=True)
class Followed:
    """`labels` of those that are asked for; `job` names the RayJob that an object belongs to, None where the object
    alone does not tell."""

    kind: Kind
    labels: dict[str, str]
    job: Callable[[Json], str | None]


def followed(cluster: KubeCluster) -> list[Followed]:
    """What this cluster has of them."""
    found = [
        Followed(RAYJOBS, MANAGED, _by_name),
        Followed(RAYCLUSTERS, MANAGED, _by_labels),
        Followed(PODS, MANAGED, _by_labels),
        # Neither has the labels of what it is about.
        Followed(EVENTS, {}, lambda one: None),
        # Kept by their own names: many runs may share one.
        Followed(NODES, {}, _by_name),
    ]
    queues = {"kueue": WORKLOADS, "kai": POD_GROUPS}
    if cluster.scheduler in queues:
        found.append(Followed(queues[cluster.scheduler], {}, _by_owner))
    return found


def _by_name(one: Json) -> str | None:
    return str(one["metadata"]["name"])


def _by_labels(one: Json) -> str | None:
    labels = one["metadata"].get("labels") or {}
    run, attempt = labels.get(RUN), labels.get(ATTEMPT, "")
    return job_name(run, int(attempt)) if run and attempt.isdigit() else None


def _by_owner(one: Json) -> str | None:
    owners = one["metadata"].get("ownerReferences") or []
    return next((str(owner["name"]) for owner in owners if owner.get("kind") == "RayJob"), None)
