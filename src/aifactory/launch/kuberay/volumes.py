"""The mount plan of a run as volumes of its pods: each directory by `subPath`, and nothing else of the namespace."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aifactory.errors import FactoryError
from aifactory.launch.clusters.kube import Claim, HostPath, KubeCluster, Volume
from aifactory.launch.clusters.registry import close_matches
from aifactory.launch.mounts import Mount


def volumes(plan: Sequence[Mount], cluster: KubeCluster) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """`volumes` and `volumeMounts`. Raises FactoryError, code "no_mount", for a class that the cluster doesn't
    mount."""
    # Numbered: no two classes can share a name, however they are spelled.
    numbers = {of: f"tree-{at}" for at, of in enumerate(sorted({one.access for one in plan}))}
    found: dict[str, dict[str, Any]] = {}
    mounts = []
    for one in plan:
        volume = cluster.volumes.get(one.access)
        if volume is None:
            raise FactoryError(
                f"the cluster {cluster.name} mounts nothing of {one.access}, and {one.target} is needed",
                found=one.access,
                expected=close_matches(one.access, list(cluster.volumes)),
                fix=f'add [{cluster.name}.volumes."{one.access}"] to clusters.toml, or launch elsewhere',
                code="no_mount",
            )
        name = numbers[one.access]
        found[name] = {"name": name, **source(volume)}
        mounts.append(
            {
                "name": name,
                "mountPath": one.target,
                "subPath": "/".join(part for part in (volume.prefix.strip("/"), one.path) if part),
                "readOnly": one.read_only,
            }
        )
    return [found[name] for name in sorted(found)], mounts


def source(volume: Volume) -> dict[str, Any]:
    """As in a pod's `volumes`, beside the name."""
    if isinstance(volume, Claim):
        return {"persistentVolumeClaim": {"claimName": volume.claim}}
    if isinstance(volume, HostPath):
        return {"hostPath": {"path": volume.path, "type": "Directory"}}
    return {"csi": {"driver": volume.driver, "volumeAttributes": dict(volume.attributes)}}
