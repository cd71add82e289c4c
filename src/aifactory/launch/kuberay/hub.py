"""One view of a cluster for all attempts that this process watches on it: one watch of each kind, however many runs
there are."""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from dataclasses import dataclass, field

from aifactory.errors import FactoryError
from aifactory.launch.clusters.kube import KubeCluster
from aifactory.launch.kuberay.api import Api
from aifactory.launch.kuberay.belonging import Followed, Json, followed
from aifactory.launch.kuberay.queues import Queues
from aifactory.launch.kuberay.wire.kinds import (
    EVENTS,
    NODES,
    POD_GROUPS,
    PODS,
    RAYCLUSTERS,
    RAYJOBS,
    WORKLOADS,
    Kind,
)
from aifactory.launch.kuberay.wire.watching import Changed, Deleted, Event, Listed, Watch

IDLE_SECONDS = 120.0
AGAIN_SECONDS = 15.0
RECENT = 10


@dataclass(frozen=True)
class View:
    """What the API last said of one RayJob. `listed`: whether there was a whole list of RayJobs yet."""

    rayjob: Json | None
    raycluster: Json | None
    pods: list[Json]
    events: list[Json]
    workload: Json | None
    podgroup: Json | None
    nodes: list[Json]
    listed: bool


@dataclass
class _Store:
    """The objects of one kind by uid, the RayJob of each, and the uids of each RayJob."""

    objects: dict[str, Json] = field(default_factory=dict)
    jobs: dict[str, str] = field(default_factory=dict)
    of: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    listed: bool = False


class Hub:
    """Its threads start with the first question and end some time after the last one."""

    def __init__(self, cluster: KubeCluster, api: Api):
        self.cluster, self.api = cluster, api
        self.queues = Queues(api)
        self._lock = threading.RLock()
        self._stores = {one.kind: _Store() for one in followed(cluster)}
        self._asked = time.monotonic()
        self._watches: list[Watch] | None = None
        self._said: list[str] = []

    def view(self, job: str) -> View:
        """Of the RayJob of this name. Never waits for the network."""
        self._start()
        with self._lock:
            pods = self._objects(PODS, job)
            on = {pod["spec"].get("nodeName") for pod in pods}
            return View(
                rayjob=_newest(self._objects(RAYJOBS, job)),
                raycluster=_newest(self._objects(RAYCLUSTERS, job)),
                pods=pods,
                events=self._objects(EVENTS, job),
                workload=_newest(self._objects(WORKLOADS, job)),
                podgroup=_newest(self._objects(POD_GROUPS, job)),
                nodes=[node for name in sorted(filter(None, on)) for node in self._objects(NODES, name)],
                listed=self._stores[RAYJOBS].listed,
            )

    def names(self) -> dict[str, str]:
        """The RayJobs that are followed, by uid."""
        with self._lock:
            return dict(self._stores[RAYJOBS].jobs)

    def said(self, after: int) -> list[str]:
        """What became of the watch of RayJobs, a line each: those after the first `after` ones."""
        with self._lock:
            return self._said[after:]

    def close(self) -> None:
        """Stop watching; the next question starts it again."""
        with self._lock:
            watches, self._watches = self._watches, None
        for watch in watches or ():
            watch.stop()

    def _start(self) -> None:
        with self._lock:
            self._asked = time.monotonic()
            if self._watches is not None:
                return
            self._watches = []
            for one in followed(self.cluster):
                # What was seen before the pause may be long gone, and a server that is away doesn't say so.
                self._stores[one.kind] = _Store()
                watch = self.api.watch(one.kind, one.labels, told=self._tell if one.kind == RAYJOBS else None)
                self._watches.append(watch)
                name = f"{self.cluster.name} {one.kind.plural}"
                threading.Thread(target=self._follow, args=(one, watch), daemon=True, name=name).start()
            threading.Thread(target=self._idle, args=(self._watches,), daemon=True, name="idle").start()

    def _follow(self, one: Followed, watch: Watch) -> None:
        while self._wanted(watch):
            try:
                for event in watch:
                    with self._lock:
                        if self._wanted(watch):
                            self._take(one, self._stores[one.kind], event)
            except FactoryError as error:
                # No right to read these, or no such kind there: the others tell what they can.
                why = f"{error.what} ({error.found})"
            except (ValueError, KeyError, TypeError) as error:
                # An answer that is no API server's, such as a proxy's page. Without this thread nothing would change.
                why = f"an answer that can't be read ({type(error).__name__})"
            else:
                continue
            self._tell(f"{one.kind.plural} can't be watched: {why}")
            time.sleep(AGAIN_SECONDS)

    def _idle(self, watches: list[Watch]) -> None:
        while self._watches is watches:
            time.sleep(1.0)
            with self._lock:
                idle = time.monotonic() - self._asked > IDLE_SECONDS
            if idle and self._watches is watches:
                self.close()

    def _wanted(self, watch: Watch) -> bool:
        with self._lock:
            return watch in (self._watches or ())

    def _tell(self, line: str) -> None:
        with self._lock:
            if line not in self._said[-RECENT:]:
                self._said.append(line)

    def _objects(self, kind: Kind, job: str) -> list[Json]:
        store = self._stores.get(kind)
        return [store.objects[uid] for uid in sorted(store.of.get(job, ()))] if store is not None else []

    def _take(self, one: Followed, store: _Store, event: Event) -> None:
        match event:
            case Listed(objects):
                fresh = _Store(listed=True)
                for found in objects:
                    self._keep(one, fresh, found)
                self._stores[one.kind] = fresh
            case Changed(found):
                self._keep(one, store, found)
            case Deleted(found):
                uid = found["metadata"]["uid"]
                store.objects.pop(uid, None)
                store.of[store.jobs.pop(uid, "")].discard(uid)

    def _keep(self, one: Followed, store: _Store, found: Json) -> None:
        job = self._about(found) if one.kind == EVENTS else one.job(found)
        if job is not None:
            uid = found["metadata"]["uid"]
            store.objects[uid], store.jobs[uid] = found, job
            store.of[job].add(uid)

    def _about(self, event: Json) -> str | None:
        """The RayJob whose object an event is about; None if the object is not known (any more, or yet)."""
        about = event.get("involvedObject") or event.get("regarding") or {}
        if about.get("kind") == RAYJOBS.name:
            return str(about.get("name", ""))
        uid = about.get("uid", "")
        return next((found for store in self._stores.values() if (found := store.jobs.get(uid))), None)


_hubs: dict[str, Hub] = {}
_lock = threading.Lock()


def hub_of(cluster: KubeCluster) -> Hub:
    """The one hub of this process for the cluster as clusters.toml has it now."""
    key = cluster.model_dump_json()
    with _lock:
        if key not in _hubs:
            _hubs[key] = Hub(cluster, Api.open(cluster))
        return _hubs[key]


def _newest(found: list[Json]) -> Json | None:
    return max(found, key=lambda one: str(one["metadata"].get("creationTimestamp", "")), default=None)
