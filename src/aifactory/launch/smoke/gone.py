"""The last step of a smoke, seen from outside: nothing of it is left where it ran."""

from __future__ import annotations

import time
from pathlib import Path

from aifactory.channel import Process
from aifactory.errors import FactoryError
from aifactory.launch.clusters.kube import KubeCluster
from aifactory.launch.clusters.registry import AnyCluster
from aifactory.launch.kuberay.api import Api
from aifactory.launch.kuberay.objects import RUN
from aifactory.launch.kuberay.wire.kinds import CONFIG_MAPS, PODS, RAYJOBS, SECRETS
from aifactory.launch.runs.names import attempt_name
from aifactory.launch.runs.result import RunResult
from aifactory.launch.runs.session import marked, members

SECONDS = 120.0
POLL_SECONDS = 1.0


def gone(result: RunResult, cluster: AnyCluster | None, *, seconds: float = SECONDS) -> float:
    """Wait until nothing of the run's newest attempt is left, and say how long that took.

    Raises FactoryError, code "left", naming what is there after `seconds`.
    """
    began = time.monotonic()
    while left := _left(result, cluster):
        if time.monotonic() - began > seconds:
            raise FactoryError(
                f"the smoke {result.run} has ended, and something of it is left",
                found=", ".join(left),
                expected=f"nothing after {seconds:g} s",
                fix="end it by hand, and look why the launcher could not",
                code="left",
            )
        time.sleep(POLL_SECONDS)
    return time.monotonic() - began


def _left(result: RunResult, cluster: AnyCluster | None) -> list[str]:
    if isinstance(cluster, KubeCluster):
        return _objects(result.run, cluster)
    return _processes(result.directory / "attempts" / attempt_name(result.attempt))


def _processes(attempt_directory: Path) -> list[str]:
    process = Process.load(attempt_directory)
    pids = marked(attempt_directory) if process is None else members(process, attempt_directory)
    return [f"process {pid}" for pid in pids]


def _objects(run: str, cluster: KubeCluster) -> list[str]:
    api = Api.open(cluster)
    try:
        found = [
            f"{kind.name} {one['metadata']['name']}"
            for kind in (RAYJOBS, PODS, CONFIG_MAPS, SECRETS)
            for one in api.read(lambda kind=kind: api.list(kind, {RUN: run}))  # type: ignore[misc]
        ]
    finally:
        api.close()
    return found
