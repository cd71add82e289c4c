"""Plans and clusters to build manifests of."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

from aifactory.launch.clusters.kube import KubeCluster
from aifactory.launch.kuberay import Asked
from aifactory.launch.plans.plan import Plan
from aifactory.spec import Context, RunSpec
from tests.spec.factories import build_spec, evaluate_spec, train_spec

PAGE = Path(__file__).parents[3] / "docs" / "clusters.md"
IMAGE = "registry.example/factory/train@sha256:" + "9a" * 32
PLACES = {"checkpoint": "/factory/public/runs/train-tiny-0123456789ab/checkpoints/step-00000100"}
SPECS = {"train": train_spec(), "evaluate": evaluate_spec(), "build": build_spec()}


def example() -> str:
    """The file that the page shows."""
    found = re.search(r"```toml\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert found is not None
    return found[1]


def table(**changes: Any) -> dict[str, Any]:
    return {"name": "lab", **tomllib.loads(example())["lab"], **changes}


def cluster(scheduler: str = "kai", **changes: Any) -> KubeCluster:
    none: dict[str, Any] = {"queues": (), "priorities": ()} if scheduler == "none" else {}
    return KubeCluster.model_validate(table(scheduler=scheduler, **none, **changes))


def plan(kind: str = "train", spec: RunSpec | None = None, **context: Any) -> Plan:
    spec = spec or SPECS[kind]
    known = {"cluster": "lab", "requester": "ada", "places": PLACES if kind == "evaluate" else {}, **context}
    path = Path("/factory/public/specs") / spec.hash / "spec.json"
    return Plan(spec, Context.model_validate(known), spec.hash, path, "tiny")


def asked(kind: str = "train", **changes: Any) -> Asked:
    return Asked(**{"run": f"{kind}-tiny-ba9876543210", "attempt": 1, "image": IMAGE, **changes})
