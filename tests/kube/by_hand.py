"""An attempt put to a cluster without the launcher: what a launcher writes and creates, and nothing that watches it."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from aifactory.launch.clusters.kube import KubeCluster
from aifactory.launch.kuberay import Asked, Names, build_rayjob, spec_config_map, token_secret
from aifactory.launch.plans.plan import Plan
from aifactory.launch.runs.attempts import Attempts
from tests.kube.space import Space


def prepare(plan: Plan, run: str, owner: int | None = None) -> Path:
    """The run's directory with its first attempt, given to the user of the pods."""
    directory = plan.class_root / "runs" / run
    directory.mkdir(parents=True)
    (directory / "spec.json").write_bytes(plan.spec.to_bytes())
    (directory / "context.json").write_bytes(plan.context.to_bytes())
    Attempts(directory).start(backend="kuberay", spec=plan.hash, writer="test", after=None)
    if owner is not None:
        for path in (directory, *directory.rglob("*")):
            os.chown(path, owner, owner)
    return directory


def submit(space: Space, plan: Plan, cluster: KubeCluster, run: str, image: str, **asked: Any) -> str:
    """The objects of the first attempt; the RayJob's name."""
    names = Names(run, 1)
    space.kube.create(
        token_secret(names, cluster, "t" * 32),
        spec_config_map(names, cluster, plan.spec),
        build_rayjob(plan, cluster, Asked(run=run, attempt=1, image=image, **asked)),
    )
    return names.job


def state(space: Space, job: str) -> str:
    """The RayJob's jobDeploymentStatus."""
    return str(space.get("rayjob", job).get("status", {}).get("jobDeploymentStatus", ""))


def until[T](what: Callable[[], T], seconds: float = 180) -> T:
    """What it returns, once that is true; looks five times a second."""
    end = time.monotonic() + seconds
    while not (found := what()):
        assert time.monotonic() < end, f"not in {seconds} s"
        time.sleep(0.2)
    return found
