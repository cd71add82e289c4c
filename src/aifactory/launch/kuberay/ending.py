"""Ending all of an attempt on its cluster."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from aifactory.errors import FactoryError
from aifactory.launch.kuberay.api import Api, ApiError
from aifactory.launch.kuberay.names import Names
from aifactory.launch.kuberay.objects import ATTEMPT, RUN, SPEC_HASH, own_labels
from aifactory.launch.kuberay.wire.kinds import CONFIG_MAPS, PODS, RAYCLUSTERS, RAYJOBS, SECRETS

HURRY_SECONDS, FORCE_SECONDS, GIVE_UP_SECONDS = 5.0, 25.0, 50.0
POD_SECONDS = 3
POLL_SECONDS = 0.5
type Json = dict[str, Any]


def clear(api: Api, names: Names, spec: str, *, seconds: float = GIVE_UP_SECONDS) -> Iterator[str]:
    """Delete the RayJob and see that nothing of it is left; a line for what a person should know.

    One of the same name that is of another run, or of another spec than the one with the hash `spec`, is left alone.
    Pods get some seconds, whatever grace their template gives them: whoever ends a run has asked it before. A RayJob
    that its operator does not let go is let go here. What is left after `seconds` is named, and is the reaper's.
    """
    ending = _Ending(api, names, seconds)
    try:
        found = ending.read(partial(api.get, RAYJOBS, names.job))
        if found is not None and not owned(found, names, spec):
            return
        ending.read(partial(api.delete, RAYJOBS, names.job))
        hurried = forced = False
        while left := ending.left():
            if ending.took > HURRY_SECONDS and not hurried:
                hurried = True
                ending.hurry()
            if ending.took > FORCE_SECONDS and not forced:
                forced = True
                yield f"the operator does not let go of {names.job}: it is removed without it"
                ending.force()
            if ending.took > seconds:
                yield f"not gone after {seconds:g} s, and left to the reaper: {', '.join(left)}"
                return
            time.sleep(POLL_SECONDS)
        ending.sweep()
    except FactoryError as error:
        yield f"{names.job} is left to the reaper: {error.what}: {error.found}"


def owned(rayjob: Json, names: Names, spec: str) -> bool:
    """Whether a RayJob is that of this run, attempt and spec."""
    meta = rayjob["metadata"]
    labels, notes = meta.get("labels") or {}, meta.get("annotations") or {}
    return (labels.get(RUN), labels.get(ATTEMPT), notes.get(SPEC_HASH)) == (names.run, str(names.attempt), spec)


class _Ending:
    def __init__(self, api: Api, names: Names, seconds: float):
        self.api, self.names, self.seconds = api, names, seconds
        self._began = time.monotonic()

    @property
    def took(self) -> float:
        return time.monotonic() - self._began

    def read[T](self, call: Callable[[], T]) -> T:
        return self.api.read(call, seconds=max(1.0, self.seconds - self.took))

    def left(self) -> list[str]:
        """What is still there, by name."""
        job = self.read(partial(self.api.get, RAYJOBS, self.names.job))
        names = [f"RayJob {self.names.job}"] if job is not None else []
        for kind in (RAYCLUSTERS, PODS):
            found = self.read(partial(self.api.list, kind, own_labels(self.names)))
            names += [f"{kind.name} {one['metadata']['name']}" for one in found]
        return names

    def hurry(self) -> None:
        for one in self.read(partial(self.api.list, PODS, own_labels(self.names))):
            self.read(partial(self.api.delete, PODS, one["metadata"]["name"], grace=POD_SECONDS))

    def force(self) -> None:
        try:
            self.read(partial(self.api.patch, RAYJOBS, self.names.job, {"metadata": {"finalizers": None}}))
        except ApiError as error:
            if not error.object_missing:
                raise

    def sweep(self) -> None:
        """What a RayJob that was never made would have owned."""
        self.read(partial(self.api.delete, SECRETS, self.names.token))
        self.read(partial(self.api.delete, CONFIG_MAPS, self.names.spec))
