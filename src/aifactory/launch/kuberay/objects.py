"""What stands beside a RayJob: the Ray cluster's token, and the spec."""

from __future__ import annotations

from typing import Any

from aifactory.launch.clusters.kube import KubeCluster
from aifactory.launch.kuberay.names import Names
from aifactory.spec import RunSpec

MANAGED = {"app.kubernetes.io/managed-by": "aifactory"}
RUN, ATTEMPT = "aifactory/run", "aifactory/attempt"
SPEC_HASH = "aifactory/spec-hash"


def own_labels(names: Names) -> dict[str, str]:
    """Labels of every object of an attempt, by which it is found again."""
    return {**MANAGED, RUN: names.run, ATTEMPT: str(names.attempt)}


def token_secret(names: Names, cluster: KubeCluster, token: str) -> dict[str, Any]:
    """The Secret that the RayJob names. It is the only object that holds a secret value: never written to a file."""
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": _metadata(names.token, names, cluster),
        "type": "Opaque",
        "immutable": True,
        "stringData": {"auth_token": token},
    }


def spec_config_map(names: Names, cluster: KubeCluster, spec: RunSpec) -> dict[str, Any]:
    """`spec.json` as it was frozen, with its hash in it."""
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": _metadata(names.spec, names, cluster),
        "immutable": True,
        "data": {"spec.json": spec.to_bytes().decode()},
    }


def _metadata(name: str, names: Names, cluster: KubeCluster) -> dict[str, Any]:
    return {"name": name, "namespace": cluster.namespace, "labels": own_labels(names)}
