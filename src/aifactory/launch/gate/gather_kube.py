"""Gathering what the gate looks at in a Kubernetes cluster: its table of `clusters.toml`, no network."""

from __future__ import annotations

from aifactory.launch.clusters.kube import KubeCluster
from aifactory.launch.clusters.registry import AnyCluster
from aifactory.launch.gate.facts import KubeFact
from aifactory.spec import Context


def kube_fact(cluster: AnyCluster | None, kind: str, context: Context) -> KubeFact | None:
    """None for a cluster that is no Kubernetes cluster, or not known."""
    if not isinstance(cluster, KubeCluster):
        return None
    name = context.shape or cluster.usual.get(kind)  # type: ignore[call-overload]
    shape, limits = cluster.shapes.get(name or ""), cluster.limits
    return KubeFact(
        shape=name,
        gpus=shape.asks("gpus") if shape else 0,
        cpus=shape.asks("cpus") if shape else 0,
        hours=(context.deadline_seconds or 0.0) / 3600,
        most_gpus=limits.gpus,
        most_cpus=limits.cpus,
        most_hours=limits.hours,
        volumes=tuple(sorted(cluster.volumes)),
        accounts=tuple(sorted(cluster.accounts)),
        ray=cluster.ray_version,
    )
