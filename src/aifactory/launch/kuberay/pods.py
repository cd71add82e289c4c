"""Pod templates of the head and of the workers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NotRequired, TypedDict

from aifactory.launch.clusters.shape import Shape

SPEC_AT = "/etc/aifactory"
USER = 1000


class Resources(TypedDict):
    """`requests` and `limits`, which are the same here: a pod gets what it asked for, and no more."""

    requests: dict[str, str]
    limits: dict[str, str]


class Container(TypedDict):
    name: str
    image: str
    imagePullPolicy: str
    env: list[dict[str, str]]
    resources: Resources
    securityContext: dict[str, Any]
    lifecycle: dict[str, Any]
    volumeMounts: list[dict[str, Any]]


class PodSpec(TypedDict):
    serviceAccountName: str
    automountServiceAccountToken: bool
    restartPolicy: str
    terminationGracePeriodSeconds: int
    securityContext: dict[str, Any]
    nodeSelector: dict[str, str]
    tolerations: list[dict[str, Any]]
    containers: list[Container]
    volumes: list[dict[str, Any]]
    schedulerName: NotRequired[str]


class Template(TypedDict):
    metadata: dict[str, dict[str, str]]
    spec: PodSpec


@dataclass(frozen=True)
class Pod:
    """What the head and the workers have in common. `image` is an OCI reference by digest; `env` is plain values;
    `leave` is the command by which a pod that must go lets the run save what it has."""

    image: str
    account: str
    scheduler: str | None
    labels: Mapping[str, str]
    env: Mapping[str, str]
    leave: tuple[str, ...]
    volumes: tuple[dict[str, Any], ...]
    mounts: tuple[dict[str, Any], ...]

    def template(self, name: str, shape: Shape, *, works: bool) -> Template:
        """`works`: it has the shape's own resources and devices; else it is a head that only drives."""
        spec: PodSpec = {
            "serviceAccountName": self.account,
            "automountServiceAccountToken": False,
            "restartPolicy": "Never",
            "terminationGracePeriodSeconds": shape.grace_seconds,
            "securityContext": {"runAsNonRoot": True, "runAsUser": USER, "runAsGroup": USER},
            "nodeSelector": dict(shape.node_selector) if works else {},
            "tolerations": [one.model_dump(exclude_none=True) for one in shape.tolerations] if works else [],
            "containers": [self._container(name, shape, works)],
            "volumes": [
                *self.volumes,
                {"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": shape.shm}},
            ],
        }
        if self.scheduler is not None:
            spec["schedulerName"] = self.scheduler
        return {"metadata": {"labels": dict(self.labels)}, "spec": spec}

    def _container(self, name: str, shape: Shape, works: bool) -> Container:
        rdma = works and shape.rdma is not None
        capabilities: dict[str, list[str]] = {"drop": ["ALL"]}
        if rdma:
            # RDMA pins memory, which the usual memlock limit forbids.
            capabilities["add"] = ["IPC_LOCK"]
        return {
            "name": name,
            "image": self.image,
            "imagePullPolicy": "IfNotPresent",
            "env": [{"name": key, "value": value} for key, value in sorted({**shape.env, **self.env}.items())],
            "resources": _resources(shape, works),
            "securityContext": {"allowPrivilegeEscalation": False, "capabilities": capabilities},
            # Ray ends its processes at the first signal to the pod: what is to be saved is saved before it.
            "lifecycle": {"preStop": {"exec": {"command": list(self.leave)}}},
            "volumeMounts": [*self.mounts, {"name": "shm", "mountPath": "/dev/shm"}],
        }


def _resources(shape: Shape, works: bool) -> Resources:
    if works:
        found = {"cpu": str(shape.cpus), "memory": shape.memory}
        if shape.gpus:
            found[shape.gpu_resource] = str(shape.gpus)
        if shape.rdma is not None:
            found[shape.rdma] = "1"
    else:
        found = {"cpu": str(shape.head_cpus), "memory": shape.head_memory}
    return {"requests": dict(found), "limits": dict(found)}
