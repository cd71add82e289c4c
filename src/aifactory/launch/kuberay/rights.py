"""What the launcher's account must be allowed to do, in one place: the doctor asks for each of them, and the project's
own Role grants them and no more."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Verb = Literal["create", "get", "list", "watch", "patch", "delete"]


@dataclass(frozen=True)
class Right:
    """To do `verbs` with `resource` (`pods/log`: a subresource) of `group`, in the namespace or everywhere; `why` is
    what comes to nothing without it. `scheduler`: only where clusters.toml names that one. Without one that isn't
    `needed`, the launcher says less, and works."""

    group: str
    resource: str
    verbs: tuple[Verb, ...]
    why: str
    namespaced: bool = True
    scheduler: str | None = None
    needed: bool = True

    @property
    def name(self) -> str:
        """`rayjobs.ray.io`, as kubectl says it."""
        return f"{self.resource}.{self.group}" if self.group else self.resource


READ: tuple[Verb, ...] = ("get", "list", "watch")
RIGHTS = (
    Right("ray.io", "rayjobs", ("create", *READ, "patch", "delete"), "a run is a RayJob"),
    Right("ray.io", "rayclusters", (*READ, "delete"), "a Ray cluster without a job is swept"),
    Right("", "secrets", ("create", "get", "list", "patch", "delete"), "each Ray cluster has a token of its own"),
    Right("", "configmaps", ("create", "get", "list", "patch", "delete"), "the spec travels in one"),
    Right("", "pods", (*READ, "create", "delete"), "how a run starts and ends is read off its pods"),
    Right("", "events", READ, "why a run waits or failed", needed=False),
    Right("", "pods/log", ("get",), "what is kept of a failed start"),
    Right("", "pods/exec", ("create", "get"), "messages are fetched through the head pod where no mount is shared"),
    Right("", "serviceaccounts", ("get", "list"), "whether the accounts of the runs are there", needed=False),
    Right("", "persistentvolumeclaims", ("get", "list"), "whether the volumes of the runs are bound", needed=False),
    Right("kueue.x-k8s.io", "workloads", READ, "why a run waits", scheduler="kueue"),
    Right("kueue.x-k8s.io", "localqueues", READ, "whether the queue is there and open", scheduler="kueue"),
    Right(
        "visibility.kueue.x-k8s.io",
        "localqueues/pendingworkloads",
        ("get",),
        "a run's place in the queue",
        scheduler="kueue",
        needed=False,
    ),
    Right("scheduling.run.ai", "podgroups", READ, "why a run waits", scheduler="kai"),
    Right(
        "authorization.k8s.io",
        "localsubjectaccessreviews",
        ("create",),
        "what the accounts of the runs may do",
        needed=False,
    ),
    Right(
        "kueue.x-k8s.io", "clusterqueues", READ, "the queue's size", namespaced=False, scheduler="kueue", needed=False
    ),
    Right(
        "kueue.x-k8s.io",
        "workloadpriorityclasses",
        READ,
        "Kueue lets a run with an unknown class wait for ever, in silence",
        namespaced=False,
        scheduler="kueue",
    ),
    Right(
        "scheduling.run.ai",
        "queues",
        READ,
        "whether the queue is there",
        namespaced=False,
        scheduler="kai",
        needed=False,
    ),
    Right(
        "scheduling.k8s.io",
        "priorityclasses",
        ("get", "list"),
        "whether a priority exists",
        namespaced=False,
        scheduler="kai",
        needed=False,
    ),
    Right("", "nodes", READ, "whether some node can hold a shape", namespaced=False, needed=False),
    Right("apps", "deployments", ("get", "list"), "KubeRay's version", namespaced=False, needed=False),
)
ROLE = "helm/compute/templates/launcher-role.yaml"


def rights_for(scheduler: str) -> tuple[Right, ...]:
    """Those that a cluster with this scheduler needs."""
    return tuple(one for one in RIGHTS if one.scheduler in (None, scheduler))
