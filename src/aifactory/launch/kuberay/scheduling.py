"""Schedulers: how a RayJob says its queue and its priority."""

from __future__ import annotations

from typing import Protocol

from aifactory.launch.clusters.kube import KubeCluster
from aifactory.launch.clusters.shape import Shape


class Scheduler(Protocol):
    """`labels` stand on the RayJob and on both pod templates; `annotations` on the RayJob, which KubeRay copies to the
    Ray cluster. `pods` is their schedulerName, None for the default one. `suspend`: the job waits until the scheduler
    starts it. `deadlines_wait`: the CRD's deadlines run while the job is queued."""

    pods: str | None
    suspend: bool
    deadlines_wait: bool

    def labels(self, queue: str | None, priority: str | None) -> dict[str, str]: ...

    def annotations(self, shape: Shape) -> dict[str, str]: ...


class Kai:
    """KAI reads the labels of the RayJob; its pods only have to name it. Ours alone, so that the operator's batch
    scheduler may be on or off."""

    pods: str | None = "kai-scheduler"
    suspend = False
    deadlines_wait = True

    def labels(self, queue: str | None, priority: str | None) -> dict[str, str]:
        found = {} if queue is None else {"kai.scheduler/queue": queue}
        return found if priority is None else found | {"priorityClassName": priority}

    def annotations(self, shape: Shape) -> dict[str, str]:
        if shape.topology is None:
            return {}
        how = "required" if shape.topology.required else "preferred"
        return {
            "kai.scheduler/topology": shape.topology.name,
            f"kai.scheduler/topology-{how}-placement": shape.topology.level,
        }


class Kueue:
    """Without Kueue's webhook a job that isn't suspended would start beside the queue."""

    QUEUE = "kueue.x-k8s.io/queue-name"
    PRIORITY = "kueue.x-k8s.io/priority-class"
    pods: str | None = None
    suspend = True
    deadlines_wait = False

    def labels(self, queue: str | None, priority: str | None) -> dict[str, str]:
        found = {} if queue is None else {self.QUEUE: queue}
        return found if priority is None else found | {self.PRIORITY: priority}

    def annotations(self, shape: Shape) -> dict[str, str]:
        return {}


class Default:
    """Kubernetes' own scheduler: no queue, no gang."""

    pods: str | None = None
    suspend = False
    deadlines_wait = True

    def labels(self, queue: str | None, priority: str | None) -> dict[str, str]:
        return {}

    def annotations(self, shape: Shape) -> dict[str, str]:
        return {}


def scheduler_of(cluster: KubeCluster) -> Scheduler:
    """The one that the cluster has."""
    known: dict[str, Scheduler] = {"kai": Kai(), "kueue": Kueue(), "none": Default()}
    return known[cluster.scheduler]
