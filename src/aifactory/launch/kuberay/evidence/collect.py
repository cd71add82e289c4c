"""Before the teardown: what an attempt leaves is read from the cluster and kept in its directory."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

from aifactory.errors import FactoryError
from aifactory.launch.kuberay.evidence.containers import Wanted, container_states, wanted_logs
from aifactory.launch.kuberay.names import Names
from aifactory.launch.kuberay.objects import own_labels
from aifactory.launch.kuberay.observe import Seen, fix_of
from aifactory.launch.kuberay.observe.objects import Json, name_of, part, text, when
from aifactory.launch.kuberay.wire.kinds import EVENTS, POD_GROUPS, PODS, RAYCLUSTERS, RAYJOBS, WORKLOADS, Kind
from aifactory.launch.runs.incident import FILE, FOLDER, Incident, Kept, Told
from aifactory.store import Store

SECONDS = 30.0
LINES = 2000
READ_BYTES = 4 * 1024 * 1024
LOG_BYTES = 512 * 1024
ALL_BYTES = 32 * 1024 * 1024
MOST_LOGS = 48
MOST_EVENTS = 200


class Reads(Protocol):
    """What is asked of the cluster's client."""

    def get(self, kind: Kind, name: str) -> dict[str, Any] | None: ...

    def list(
        self, kind: Kind, labels: Mapping[str, str] | str | None = None, fields: str = ""
    ) -> list[dict[str, Any]]: ...

    def logs(
        self,
        pod: str,
        container: str | None = None,
        *,
        tail: int | None = None,
        limit_bytes: int | None = None,
        previous: bool = False,
    ) -> bytes | None: ...


def collect(
    api: Reads,
    names: Names,
    attempt_directory: Path,
    seen: Seen,
    *,
    cluster: str,
    private: bool,
    former: tuple[Json, ...] = (),
    seconds: float = SECONDS,
) -> Incident | None:
    """Keep the evidence of an attempt that ended as `seen` says; None if not even its summary could be written.

    Never raises, and begins no further request after `seconds`: what could not be had is named in `missing`. The logs
    of containers are raw, and stay in the run's directory; the summary has no word of them. `former` are pods that
    have gone. Who collected first stands: a second call adds what is missing.
    """
    kept = _Kept(Store(attempt_directory / FOLDER), time.monotonic() + seconds)
    job = kept.read("the RayJob", lambda: api.get(RAYJOBS, names.job))
    labels = own_labels(names)
    ray = text(job, "status", "rayClusterName")
    clusters = [found] if ray and (found := kept.read("the Ray cluster", lambda: api.get(RAYCLUSTERS, ray))) else []
    pods = kept.read("the pods", lambda: api.list(PODS, labels)) or []
    workloads = _of(kept, api, WORKLOADS, "kueue.x-k8s.io/queue-name", job)
    groups = _of(kept, api, POD_GROUPS, "kai.scheduler/queue", job)
    about = {name_of(one) for one in (*clusters, *pods, *former, *workloads, *groups)} | {names.job}
    events = [
        one
        for one in kept.read("the events", lambda: api.list(EVENTS)) or []
        if text(one, "involvedObject", "name") in about
        or text(one, "involvedObject", "name").startswith(f"{names.job}-")
    ]
    events = sorted(events, key=when)[-MOST_EVENTS:]
    if job is not None:
        kept.keep("manifest.json", _manifest(job))
    for name, value in (
        ("rayjob.json", job),
        ("raycluster.json", clusters),
        ("pods.json", [*pods, *former]),
        ("events.json", events),
        ("workload.json", workloads),
        ("podgroup.json", groups),
    ):
        if value:
            kept.keep(name, value)
    for one in wanted_logs(pods)[:MOST_LOGS]:
        kept.log(one, api)
    states = container_states([*pods, *former], {one.name for one in kept.files})
    failure = seen.failure
    incident = Incident(
        run=names.run,
        attempt=names.attempt,
        cluster=cluster,
        job=names.job,
        outcome=seen.outcome or "lost",
        code=failure.code if failure is not None else seen.code,
        text=seen.text,
        fix=fix_of(seen.code),
        at=datetime.now(UTC).isoformat(),
        since=seen.since or "",
        containers=tuple(states),
        events=tuple(_told(one, private=private) for one in events),
        files=tuple(kept.files),
        missing=tuple(kept.missing),
    )
    try:
        kept.store.put(FILE, incident.model_dump_json(indent=1).encode())
    except (OSError, FactoryError):
        return None
    return incident


class _Kept:
    """Files of `incident/`, within the time and the bytes that they may take."""

    def __init__(self, store: Store, until: float):
        self.store, self._until = store, until
        self.files: list[Kept] = []
        self.missing: list[str] = []
        self._left = ALL_BYTES

    def read[T](self, what: str, call: Callable[[], T]) -> T | None:
        if time.monotonic() > self._until:
            self.missing.append(f"{what}: no time was left")
            return None
        try:
            return call()
        except FactoryError as error:
            self.missing.append(f"{what}: {error.code}")
        except Exception as error:
            # Evidence that breaks its collector would take the outcome with it.
            self.missing.append(f"{what}: {type(error).__name__}")
        return None

    def keep(self, name: str, value: Any) -> None:
        data = json.dumps(_bare(value), indent=1, sort_keys=True).encode()
        self._put(name, data, cut=False)

    def log(self, one: Wanted, api: Reads) -> None:
        data = self.read(
            f"the log {one.file}",
            lambda: api.logs(one.pod, one.container, tail=LINES, limit_bytes=READ_BYTES, previous=one.previous),
        )
        if data is None:
            return
        self._put(one.file, data[-LOG_BYTES:], cut=len(data) > LOG_BYTES or data.count(b"\n") >= LINES)

    def _put(self, name: str, data: bytes, *, cut: bool) -> None:
        if len(data) > self._left:
            self.missing.append(f"{name}: {len(data):,} bytes are over the {ALL_BYTES:,} that are kept")
            return
        try:
            self.store.put(name, data)
        except (OSError, FactoryError) as error:
            self.missing.append(f"{name}: {getattr(error, 'code', type(error).__name__)}")
            return
        self._left -= len(data)
        self.files.append(Kept(name=name, bytes=len(data), cut=cut))


def _of(kept: _Kept, api: Reads, kind: Kind, label: str, job: Json | None) -> list[dict[str, Any]]:
    """The objects of a queueing system that belong to the RayJob, where it is the cluster's."""
    if label not in part(job, "metadata", "labels"):
        return []
    uid = text(job, "metadata", "uid")
    found = kept.read(kind.plural, lambda: api.list(kind)) or []
    return [one for one in found if uid in json.dumps(part(one, "metadata").get("ownerReferences", ""))]


def _manifest(job: Json) -> dict[str, Any]:
    """As it was created, but for what the operator wrote into it."""
    meta = part(job, "metadata")
    wanted = {name: meta[name] for name in ("name", "namespace", "labels", "annotations") if name in meta}
    return {**{name: job[name] for name in ("apiVersion", "kind", "spec") if name in job}, "metadata": wanted}


def _bare(value: Any) -> Any:
    """Without the server's own bookkeeping of fields, which is longer than the objects."""
    if isinstance(value, dict):
        return {name: _bare(one) for name, one in value.items() if name != "managedFields"}
    return [_bare(one) for one in value] if isinstance(value, list | tuple) else value


def _told(event: Json, *, private: bool) -> Told:
    count = event.get("count")
    return Told(
        at=when(event),
        kind=text(event, "involvedObject", "kind"),
        name=text(event, "involvedObject", "name"),
        reason=text(event, "reason"),
        message="" if private else text(event, "message")[:500],
        count=count if isinstance(count, int) else 1,
    )
