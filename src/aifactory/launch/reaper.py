"""The reaper: compares what each cluster holds with the runs' records, and does what follows."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from aifactory.channel.payloads import Failure
from aifactory.errors import FactoryError
from aifactory.launch.clusters.kube import KubeCluster
from aifactory.launch.clusters.registry import load_clusters
from aifactory.launch.kuberay.api import Api
from aifactory.launch.kuberay.ending import clear
from aifactory.launch.kuberay.hub import hub_of
from aifactory.launch.kuberay.names import Names
from aifactory.launch.kuberay.objects import ATTEMPT, MANAGED, RUN, SPEC_HASH
from aifactory.launch.kuberay.wire.kinds import CONFIG_MAPS, RAYCLUSTERS, RAYJOBS, SECRETS, Kind
from aifactory.launch.reaping import Action, Held, Known, actions
from aifactory.launch.runs.attempts import LOCAL, Attempts
from aifactory.launch.runs.phases import Phases
from aifactory.launch.runs.summary import get_run, runs_directories
from aifactory.launch.scope import Scope
from aifactory.launch.stopping import stop
from aifactory.namespace import Namespace
from aifactory.project import Project
from aifactory.spec import Context

KINDS = {kind.name: kind for kind in (RAYJOBS, RAYCLUSTERS, SECRETS, CONFIG_MAPS)}
WRITER = "reaper"
type Unwanted = Callable[[Context], float | None]


def reap(ns: Namespace, unwanted: Unwanted, *, project: Project, scope: Scope, seconds: float = 50.0) -> list[str]:
    """A line for everything that was done or is about to be done, on every cluster of clusters.toml; one that does not
    answer is reported, and the others go on. `unwanted`: for how long nobody has wanted a run with this context, None
    while somebody may. Runs and objects of other classes than `scope`'s are left alone; new work begins for at most
    `seconds`."""
    until, said = time.monotonic() + seconds, []
    for name, cluster in load_clusters(project).items():
        if not isinstance(cluster, KubeCluster):
            continue
        try:
            api = hub_of(cluster).api
            # The records first: an attempt that is made in between is none of ours yet.
            known = {one.run: one for one in _known(ns, name, scope, unwanted)}
            others = {path.name for path in _directories(ns, Scope(), away=True)} - known.keys()
            every = (one for kind in KINDS.values() for one in _held(api, kind))
            # A run of another code location, cluster or site is not unknown, and not ours to judge.
            held = [one for one in every if one.run in known or (scope.access is None and one.run not in others)]
            for action in actions(held, known):
                if time.monotonic() > until:
                    break
                said += [f"{name}: {line}" for line in _done(action, api, ns, project)]
        except FactoryError as error:
            said.append(f"{name} can't be looked at: {error.what}: {error.found}")
    return said


def _done(action: Action, api: Api, ns: Namespace, project: Project) -> Iterator[str]:
    """One that can't be done is said, and the others go on: it comes first again the next time."""
    try:
        yield from _do(action, api, ns, project)
    except FactoryError as error:
        yield f"{action.name or action.run} is left: {error.what}: {error.found}"
    except OSError as error:
        yield f"{action.name or action.run} is left: {error.strerror or type(error).__name__}"


def _do(action: Action, api: Api, ns: Namespace, project: Project) -> Iterator[str]:
    names = Names(action.run, action.attempt)
    if action.what == "report":
        yield f"{names.job} is going to be ended: {action.why}"
        return
    yield f"{action.what} {action.name or names.job}: {action.why}"
    if action.what == "stop":
        stop(ns, action.run, writer=WRITER, project=project)
    elif action.what == "delete":
        yield from clear(api, names, action.spec, seconds=20.0)
    elif action.what == "sweep":
        api.delete(KINDS[action.kind], action.name)
    elif action.what == "lost":
        attempts = Attempts(ns.writable(get_run(ns, action.run)))
        newest = attempts.newest()
        if newest is not None and newest.number == action.attempt:
            error = Failure(type="Lost", text=f"the RayJob {names.job} is gone", code="gone")
            outcome, why = attempts.ended_by_itself(newest) or ("lost", error)
            attempts.end(newest.number, outcome, writer=WRITER, error=why)


def _known(ns: Namespace, cluster: str, scope: Scope, unwanted: Unwanted) -> Iterator[Known]:
    for directory in _directories(ns, scope):
        try:
            attempts = Attempts(directory)
            newest = attempts.newest()
            if newest is None or newest.backend == LOCAL:
                continue
            context = Context.load(directory / "context.json")
            if context.cluster != cluster:
                continue
            ended = attempts.ended_by_itself(newest) if newest.outcome is None else None
            made = bool(Phases(attempts.path(newest.number)).all())
        except FactoryError:
            continue  # records that can't be read: `aifactory runs` names them, and nothing is stopped for them
        yield Known(
            run=directory.name,
            attempt=newest.number,
            outcome=newest.outcome,
            made=made,
            age=_age(newest.ended or newest.started),
            ended=ended[0] if ended is not None else None,
            unwanted=unwanted(context) if newest.outcome is None else None,
        )


def _held(api: Api, kind: Kind) -> Iterable[Held]:
    for one in api.list(kind, MANAGED):
        meta: dict[str, Any] = one["metadata"]
        labels = meta.get("labels") or {}
        if labels.get(RUN) and str(labels.get(ATTEMPT, "")).isdigit():
            yield Held(
                kind=kind.name,
                name=meta["name"],
                run=labels[RUN],
                attempt=int(labels[ATTEMPT]),
                age=_age(meta["creationTimestamp"]),
                spec=(meta.get("annotations") or {}).get(SPEC_HASH, ""),
                owned=bool(meta.get("ownerReferences")),
            )


def _directories(ns: Namespace, scope: Scope, *, away: bool = False) -> Iterator[Path]:
    """Those of runs; `away`: of other sites too, which are not ours to write in."""
    for folder in runs_directories(ns):
        if (away or not ns.is_away(folder)) and scope.holds(ns.class_of(folder.parent)):
            yield from (path for path in folder.iterdir() if (path / "context.json").is_file())


def _age(at: str) -> float:
    return (datetime.now(UTC) - datetime.fromisoformat(at)).total_seconds()
