"""Watches: every change of some objects, over broken connections and versions that are too old."""

from __future__ import annotations

import contextlib
import json
import random
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from aifactory.launch.kuberay.wire.errors import ApiError
from aifactory.launch.kuberay.wire.kinds import Kind

if TYPE_CHECKING:
    from urllib3 import BaseHTTPResponse

    from aifactory.launch.kuberay.api import Api

SERVER_SECONDS = 240
"""The server ends a watch after this time, and we go on from where it was."""
SILENCE_SECONDS = 100.0
"""A watch with bookmarks says something each minute; one that says nothing for longer is dead."""
RESYNC_SECONDS = 600.0
SHORTEST, LONGEST = 0.25, 15.0


@dataclass(frozen=True)
class Listed:
    """All objects there are: at the start, after a gap, and each ten minutes. What was known and is not among them is
    gone."""

    objects: tuple[dict[str, Any], ...]


@dataclass(frozen=True)
class Changed:
    """One object that is new or another than before."""

    object: dict[str, Any]


@dataclass(frozen=True)
class Deleted:
    """One object that is gone, as it was last; or that no longer has the labels."""

    object: dict[str, Any]


type Event = Listed | Changed | Deleted


class Watch:
    """Iterate over it in one thread, `stop` it from any: the iteration then ends within a second, without an error.
    What may pass (connection lost, 429, 5xx, a version too old) is told to `told` and mended for ever; the rest is
    raised as ApiError: 401 and 403 once there was no good answer for `settle` seconds."""

    def __init__(
        self,
        api: Api,
        kind: Kind,
        labels: str,
        *,
        told: Callable[[str], None] | None = None,
        silence: float = SILENCE_SECONDS,
        resync: float = RESYNC_SECONDS,
        settle: float = 60.0,
    ) -> None:
        self._api, self._kind, self._labels, self._told = api, kind, labels, told or (lambda text: None)
        self._silence, self._resync, self._settle = silence, resync, settle
        self._stopped, self._lock = threading.Event(), threading.Lock()
        self._open: BaseHTTPResponse | None = None
        self._version: str | None = None
        self._listed_at = self._good_at = 0.0

    def stop(self) -> None:
        """Let the iteration end."""
        self._stopped.set()
        with self._lock:
            if self._open is not None:
                with contextlib.suppress(ValueError, RuntimeError, OSError, NotImplementedError):
                    self._open.shutdown()  # wakes the thread that reads

    def __iter__(self) -> Iterator[Event]:
        failures, self._good_at = 0, time.monotonic()
        while not self._stopped.is_set():
            try:
                for event in self._once():
                    if failures:
                        self._told(f"the watch of {self._kind.plural} goes on after {failures} failed tries")
                    failures, self._good_at = 0, time.monotonic()
                    yield event
                    if self._stopped.is_set():
                        return
            except ApiError as error:
                if self._stopped.is_set():
                    return
                if error.status == 410:
                    self._version = None
                elif not error.transient and not self._settles(error):
                    raise
                failures += 1
                if failures == 1:
                    self._told(f"the watch of {self._kind.plural} broke: {error.what} ({error.found})")
                pause = min(LONGEST, SHORTEST * 2 ** min(failures - 1, 10)) * random.uniform(0.5, 1.0)
                self._stopped.wait(max(pause, min(error.after or 0.0, self._silence)))

    def _settles(self, error: ApiError) -> bool:
        return error.status in (401, 403) and time.monotonic() - self._good_at < self._settle

    def _once(self) -> Iterator[Event]:
        """List if need be, then one watch until its end."""
        if self._version is None or time.monotonic() - self._listed_at > self._resync:
            objects, self._version = self._api.list_at(self._kind, self._labels)
            self._listed_at = time.monotonic()
            yield Listed(tuple(objects))
        query: dict[str, object] = {"watch": "true", "allowWatchBookmarks": "true", "timeoutSeconds": SERVER_SECONDS}
        query |= {"resourceVersion": self._version} | ({"labelSelector": self._labels} if self._labels else {})
        path = self._kind.path(self._api.namespace)
        found = self._api.stream("GET", path, query=query, read=self._silence)
        with self._lock:
            self._open = found
        try:
            if self._stopped.is_set():
                return
            for line in _lines(found, self._api.failed(f"watch {path}")):
                if (event := self._event(json.loads(line), path)) is not None:
                    yield event
        finally:
            with self._lock:
                self._open = None
            found.close()

    def _event(self, said: dict[str, Any], path: str) -> Event | None:
        kind, value = said["type"], said["object"]
        if kind == "ERROR":
            raise self._api.refused(f"watch {path}", int(value.get("code", 500)), json.dumps(value).encode())
        self._version = value["metadata"]["resourceVersion"]
        if kind == "BOOKMARK":
            return None
        return Deleted(value) if kind == "DELETED" else Changed(value)


def _lines(found: BaseHTTPResponse, failed: Callable[[Exception], Exception]) -> Iterator[bytes]:
    """Whole lines; what the end of a connection cut off is dropped, and seen again by the next watch."""
    rest = b""
    try:
        for chunk in found.stream(amt=None, decode_content=False):
            *whole, rest = (rest + chunk).split(b"\n")
            yield from (line for line in whole if line.strip())
    except Exception as error:
        raise failed(error) from error
