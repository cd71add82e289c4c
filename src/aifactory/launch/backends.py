"""The backend that a cluster's attempts run at."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from aifactory.errors import FactoryError
from aifactory.launch.backend import Backend, Local
from aifactory.launch.clusters.kube import KubeCluster
from aifactory.launch.clusters.registry import AnyCluster, close_matches
from aifactory.launch.kuberay.backend import KubeRay
from aifactory.launch.plans.plan import Plan
from aifactory.namespace import Namespace
from aifactory.project import Project


def cluster_of(name: str, clusters: Mapping[str, AnyCluster]) -> AnyCluster:
    """The cluster that a run's context names. FactoryError "unknown_cluster": the gate passed it once, so it was taken
    out of clusters.toml since."""
    if name not in clusters:
        raise FactoryError(
            f"there is no cluster {name!r}",
            found=name,
            expected=close_matches(name, list(clusters)),
            fix="write it back into clusters.toml, or launch a new run elsewhere",
            code="unknown_cluster",
        )
    return clusters[name]


def backend_of(
    plan: Plan,
    directory: Path,
    cluster: AnyCluster,
    *,
    ns: Namespace,
    project: Project,
    say: Callable[[str], None],
    private: bool,
) -> Backend:
    """What makes and finds the attempts of the run in `directory`."""
    if isinstance(cluster, KubeCluster):
        return KubeRay(plan, directory, cluster, ns=ns, project=project, say=say, private=private)
    return Local(plan, directory, ns=ns, project=project, say=say, private=private)
