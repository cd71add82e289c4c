"""The table of `clusters.toml` for a test's namespace."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from aifactory.launch.clusters.kube import KubeCluster
from tests.kube.space import PRIORITIES, Space

IMAGE = "registry.example/factory/train@sha256:" + "9a" * 32
"""An image for fake nodes, which pull none."""
SMALL = {"cpus": 1, "memory": "1Gi", "head_cpus": 1, "head_memory": "1Gi", "shm": "64Mi", "grace_seconds": 30}

REAL = {
    "two": {"workers": 2, **SMALL, "memory": "3Gi", "head_memory": "4Gi", "shm": "1Gi"},
    "one": {"workers": 0, **SMALL, "memory": "4Gi", "shm": "1Gi"},
}
"""Shapes for pods that really run: each imports torch, and the head's driver and controller do too."""


def table(space: Space, root: Path, **changes: Any) -> dict[str, Any]:
    """A cluster whose nodes mount the namespace tree `root` (a directory of this machine) for every class. `scheduler`
    is `kueue` once the space has a queue, else `none`. Shapes: `two` (a head that drives and two workers), `one` (head
    only), `held` (as `two`, but its workers stay pending on fake nodes until the test writes their status)."""
    kueue = bool(space.queues)
    found = {
        "backend": "kuberay",
        "server": space.kube.server,
        "ca_file": str(space.kube.ca_file),
        "token": {"source": "file", "path": str(space.token_file)},
        "namespace": space.name,
        "site": "here",
        "ray_version": "2.60.0",
        "scheduler": "kueue" if kueue else "none",
        "queues": list(space.queues),
        "priorities": list(PRIORITIES) if kueue else [],
        "drain_seconds": 30,
        "volumes": {of: {"kind": "hostPath", "path": str(root)} for of in space.accounts},
        "accounts": dict(space.accounts),
        "shapes": {
            "two": {"workers": 2, **SMALL},
            "one": {"workers": 0, **SMALL},
            "held": {"workers": 2, "node_selector": {"aifactory/played": "by-hand"}, **SMALL},
        },
        "usual": {"train": "two", "evaluate": "one", "build": "one", "smoke": "two"},
    }
    return {**found, **changes}


def cluster(space: Space, root: Path, *, name: str = "lab", **changes: Any) -> KubeCluster:
    """The same, read as the project reads it."""
    return KubeCluster.model_validate({"name": name, **table(space, root, **changes)})


def write(project_root: Path, **tables: Mapping[str, Any]) -> Path:
    """`clusters.toml` of a project, with `local` and these: `write(project.root, lab=table(space, root))`."""
    path = project_root / "clusters.toml"
    path.write_text(
        "".join(f"[{name}]\n{_rows(rows)}\n" for name, rows in {"local": {"backend": "local"}, **tables}.items())
    )
    return path


def _rows(table: Mapping[str, Any]) -> str:
    return "".join(f"{json.dumps(key)} = {_value(value)}\n" for key, value in table.items() if value is not None)


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{json.dumps(key)} = {_value(one)}" for key, one in value.items()) + " }"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_value, value)) + "]"
    return json.dumps(value)
