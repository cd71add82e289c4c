"""Whether a cluster can be used, asked of all at once and for a few seconds only."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor

from aifactory.errors import FactoryError
from aifactory.launch.clusters.kube import KubeCluster
from aifactory.launch.clusters.registry import AnyCluster
from aifactory.launch.kuberay.api import Api
from aifactory.launch.kuberay.wire.kinds import RAYJOBS

SECONDS = 5.0
"""For a connection, and again for an answer: a tick has a minute for everything."""


def unreachable(clusters: Mapping[str, AnyCluster], names: Iterable[str]) -> dict[str, str]:
    """Why a cluster can't be used, by name; those that can are left out. Takes twice SECONDS at most."""
    asked = list(names)
    with ThreadPoolExecutor(max_workers=max(1, len(asked))) as pool:
        answers = list(pool.map(lambda name: _why(clusters.get(name)), asked))
    return {name: why for name, why in zip(asked, answers, strict=True) if why}


def _why(cluster: AnyCluster | None) -> str:
    if cluster is None:
        return "clusters.toml has no cluster of this name"
    if not isinstance(cluster, KubeCluster):
        return ""
    try:
        api = Api.open(cluster, connect=SECONDS, read=SECONDS)
        try:
            api.request("GET", RAYJOBS.path(cluster.namespace), query={"limit": 1})
        finally:
            api.close()
    except FactoryError as error:
        return " ".join(f"{error.code}: {error.found or error.what}".split())
    return ""
