"""What a launch asks of a cluster, and what of it the cluster has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from aifactory.errors import FactoryError
from aifactory.launch.clusters.kube import KubeCluster
from aifactory.launch.clusters.registry import close_matches
from aifactory.launch.clusters.shape import Shape
from aifactory.launch.plans.plan import Plan


@dataclass(frozen=True)
class Asked:
    """One attempt. `image` is the OCI reference by digest; `dagster` are Dagster's labels in
    dagster-ray's vocabulary (`dagster/run-id`, ...)."""

    run: str
    attempt: int
    image: str
    dagster: Mapping[str, str] = field(default_factory=dict)


def shape_of(cluster: KubeCluster, plan: Plan) -> Shape:
    """That of the plan's context, else the usual one of its kind. Raises FactoryError, code "no_shape", naming those
    that exist."""
    name = plan.context.shape or cluster.usual.get(plan.kind)  # type: ignore[call-overload]
    return cluster.shapes[known("shape", name, cluster.shapes, cluster)]


def known(what: str, value: str | None, have: Mapping[str, object] | tuple[str, ...], cluster: KubeCluster) -> str:
    """`value`, if the cluster has it; FactoryError with the gate's code `no_<what>` else."""
    if value is None or value not in have:
        raise FactoryError(
            f"the cluster {cluster.name} has no {what} {value!r}",
            found=value or "none is asked for, and none is usual",
            expected=close_matches(value or "", list(have)),
            fix=f"name one that {cluster.name} has, or add it to clusters.toml",
            code=f"no_{what}",
        )
    return value
