"""Stopping a run, whether somebody watches it or not."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from aifactory.channel import Commands, Process
from aifactory.launch.backends import cluster_of
from aifactory.launch.clusters.kube import KubeCluster
from aifactory.launch.clusters.registry import load_clusters
from aifactory.launch.kuberay.ending import clear
from aifactory.launch.kuberay.hub import hub_of
from aifactory.launch.kuberay.names import Names
from aifactory.launch.runs.attempts import LOCAL, Attempt, Attempts
from aifactory.launch.runs.session import GRACE_SECONDS, end
from aifactory.launch.runs.summary import get_run, state_of
from aifactory.namespace import Namespace
from aifactory.project import Project
from aifactory.spec import Context


def stop(
    ns: Namespace,
    run: str,
    *,
    writer: str = "cli",
    wait: bool = True,
    say: Callable[[str], None] = lambda line: None,
    project: Project | None = None,
) -> str:
    """Ask the run's newest attempt to stop; `wait`: until it has, ending what is left of it here or on its cluster.

    Returns its state afterwards. Does nothing to a run that has ended. FactoryError "read_only" for one of another
    site.
    """
    directory = ns.writable(get_run(ns, run))
    attempts = Attempts(directory)
    newest = attempts.newest()
    if newest is None or newest.outcome is not None or attempts.ended_by_itself(newest) is not None:
        return state_of(directory, attempts, newest)
    path = attempts.path(newest.number)
    if not Commands(path).asked_to_stop():
        Commands(path).send("stop", writer=writer)
    if wait:
        place = None if newest.backend == LOCAL else _cluster(directory, project)
        _wait(attempts, newest, GRACE_SECONDS if place is None else _grace(place, path))
        if place is None:
            end(Process.load(path), path, grace=1.0)
        else:
            for line in clear(hub_of(place).api, Names(run, newest.number), newest.spec):
                say(line)
        outcome, error = attempts.ended_by_itself(newest) or ("cancelled", None)
        attempts.end(newest.number, "cancelled" if outcome == "lost" else outcome, writer=writer, error=error)
    return state_of(directory, attempts, attempts.newest())


def _cluster(directory: Path, project: Project | None) -> KubeCluster | None:
    name = Context.load(directory / "context.json").cluster
    found = cluster_of(name, load_clusters(project or Project.current()))
    return found if isinstance(found, KubeCluster) else None


def _grace(cluster: KubeCluster, path: Path) -> float:
    """For an attempt that waits or comes up there is nobody yet who could save anything."""
    return cluster.stop_seconds if (path / "process.json").is_file() else GRACE_SECONDS


def _wait(attempts: Attempts, newest: Attempt, seconds: float) -> None:
    until = time.monotonic() + seconds
    while time.monotonic() < until and attempts.ended_by_itself(newest) is None:
        if (now := attempts.newest()) is None or now.outcome is not None:
            return  # by whoever watches it
        time.sleep(0.1)
