"""Create or adopt: the objects of one attempt, by names that are a function of (run, attempt)."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from functools import partial
from typing import Any

from aifactory.errors import FactoryError
from aifactory.launch.kuberay.api import Api, ApiError
from aifactory.launch.kuberay.ending import owned
from aifactory.launch.kuberay.names import Names
from aifactory.launch.kuberay.objects import RUN, SPEC_HASH, spec_config_map, token_secret
from aifactory.launch.kuberay.wire.kinds import CONFIG_MAPS, RAYJOBS, SECRETS, Kind
from aifactory.spec import RunSpec

type Json = dict[str, Any]


class Creator:
    """`told` hears of calls that are repeated while the server is away; Stopped is raised once `stop()` says so."""

    def __init__(self, api: Api, *, told: Callable[[str], None], stop: Callable[[], bool]):
        self._api, self._told, self._stop = api, told, stop

    def create_or_adopt(self, names: Names, spec: RunSpec, manifest: Json) -> bool:
        """Whether this call made the attempt's RayJob.

        Secret and ConfigMap come first, and belong to the RayJob afterwards: one delete removes all. A RayJob that is
        there is adopted if it is of this run and spec. Raises FactoryError: "job_owned" for one that is not, and what
        `Api.read` raises.
        """
        cluster = self._api.cluster
        self._create(SECRETS, token_secret(names, cluster, secrets.token_urlsafe(32)))
        self._create(CONFIG_MAPS, spec_config_map(names, cluster, spec))
        made = self._create(RAYJOBS, manifest)
        found = made or self._read(partial(self._api.get, RAYJOBS, names.job))
        if found is None:
            return False  # deleted between the two calls: whoever watches sees that it is gone
        if not owned(found, names, spec.hash):
            raise self._foreign(found, names, spec)
        for kind, name in ((SECRETS, names.token), (CONFIG_MAPS, names.spec)):
            self._read(partial(self._own, kind, name, found))
        return made is not None

    def _create(self, kind: Kind, body: Json) -> Json | None:
        """None if there is one of that name."""

        def create() -> Json | None:
            try:
                return self._api.create(kind, body)
            except ApiError as error:
                if error.code == "conflict":
                    return None
                raise

        return self._read(create)

    def _own(self, kind: Kind, name: str, rayjob: Json) -> None:
        try:
            self._api.own(kind, name, rayjob)
        except ApiError as error:
            # The RayJob was deleted a moment ago, and they with it.
            if not error.object_missing:
                raise

    def _read[T](self, call: Callable[[], T]) -> T:
        return self._api.read(call, told=self._told, stop=self._stop)

    def _foreign(self, found: Json, names: Names, spec: RunSpec) -> FactoryError:
        meta, space = found["metadata"], self._api.namespace
        run, hash = (meta.get("labels") or {}).get(RUN), (meta.get("annotations") or {}).get(SPEC_HASH)
        return FactoryError(
            f"the RayJob {names.job} in {space} of {self._api.cluster.name} is not of this run",
            found=f"run {run}, spec {hash}",
            expected=f"run {names.run}, spec {spec.hash}",
            fix=f"look at it (kubectl -n {space} describe rayjob {names.job}) and delete it if nobody needs it, or "
            "launch under another name",
            code="job_owned",
        )
