"""Whether a cluster can be reached, asked of all at once and for a few seconds only."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

from aifactory.launch.clusters.registry import AnyCluster

SECONDS = 5.0
HOST, PORT = "KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT"
"""Where a pod finds the API server of its own cluster."""


def unreachable(clusters: Mapping[str, AnyCluster], names: Iterable[str]) -> dict[str, str]:
    """Why a cluster can't be reached, by name; those that can are left out. Takes SECONDS at most."""
    asked = list(names)
    with ThreadPoolExecutor(max_workers=max(1, len(asked))) as pool:
        answers = list(pool.map(lambda name: _why(clusters.get(name)), asked))
    return {name: why for name, why in zip(asked, answers, strict=True) if why}


def _why(cluster: AnyCluster | None) -> str:
    if cluster is None:
        return "clusters.toml has no cluster of this name"
    if cluster.backend == "local":
        return ""
    at = urlsplit(cluster.server or f"https://{os.environ.get(HOST, '')}:{os.environ.get(PORT, '443')}")
    if not at.hostname:
        return f"it names no server, and this is no pod of it ({HOST} is not set)"
    try:
        with socket.create_connection((at.hostname, at.port or 443), timeout=SECONDS):
            return ""
    except OSError as error:
        return f"its API server at {at.hostname}:{at.port or 443} does not answer: {error}"
