"""The client of one cluster's API server. There is one for each cluster, and none for the process."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlencode

from aifactory.launch.clusters.kube import KubeCluster
from aifactory.launch.kuberay.wire import patience
from aifactory.launch.kuberay.wire.errors import ApiError, answered, unanswered
from aifactory.launch.kuberay.wire.executing import Executed, execute
from aifactory.launch.kuberay.wire.kinds import PODS, Kind
from aifactory.launch.kuberay.wire.tokens import Tokens
from aifactory.launch.kuberay.wire.transport import CONNECT_SECONDS, READ_SECONDS, make_client
from aifactory.launch.kuberay.wire.watching import Watch

if TYPE_CHECKING:
    from kubernetes.client import ApiClient
    from urllib3 import BaseHTTPResponse

Json = dict[str, Any]
Objects = list[Json]
Command = list[str]
PAGE = 500
MERGE = "application/merge-patch+json"


@dataclass(frozen=True)
class Answer:
    """Of a request: its body, and its headers."""

    body: bytes
    headers: Mapping[str, str]

    def json(self) -> Json:
        found: Json = json.loads(self.body)
        return found


class Api:
    """Every call has a timeout and raises ApiError, a FactoryError that names the cluster, the call and the server's
    words; code unauthorized, forbidden, not_found, conflict, invalid, busy, server, unreachable or certificate. Objects
    are the API's JSON. Safe to use from several threads."""

    def __init__(self, cluster: KubeCluster, client: ApiClient, tokens: Tokens) -> None:
        self.cluster, self.namespace, self.client, self.tokens = cluster, cluster.namespace, client, tokens

    @classmethod
    def open(cls, cluster: KubeCluster, *, connect: float = CONNECT_SECONDS, read: float = READ_SECONDS) -> Self:
        """Nothing is sent yet. `connect` and `read` are the timeouts of every call, in seconds. Raises FactoryError,
        code "ca_file" or "server"."""
        tokens = Tokens(cluster)
        return cls(cluster, make_client(cluster, tokens, (connect, read)), tokens)

    def close(self) -> None:
        """Close the connections that are idle."""
        self.client.rest_client.pool_manager.clear()

    def read[T](
        self,
        call: Callable[[], T],
        *,
        seconds: float = patience.SECONDS,
        told: Callable[[str], None] | None = None,
        stop: Callable[[], bool] | None = None,
    ) -> T:
        """`call()`, repeated for at most `seconds` while the server is away or busy; see `patience.patiently`. Only for
        what may be done twice: reads, deletes, and creates by name whose `conflict` means "it is there"."""

        def translated() -> T:
            try:
                return call()
            except Exception as error:
                raise self.failed("a call")(error) from error

        return patience.patiently(translated, seconds=seconds, told=told, stop=stop)

    # Objects

    def create(self, kind: Kind, body: Json, *, dry_run: bool = False) -> Json:
        """Unknown fields are refused. Raises ApiError, code "conflict", if there is one of that name."""
        query = {"fieldValidation": "Strict", **({"dryRun": "All"} if dry_run else {})}
        return self.request("POST", kind.path(self.namespace), query=query, body=body).json()

    def get(self, kind: Kind, name: str) -> Json | None:
        """None if there is no such object. That its kind or its namespace is unknown is an error: `not_found`."""
        try:
            return self.request("GET", kind.path(self.namespace, name), name=name).json()
        except ApiError as error:
            if error.object_missing:
                return None
            raise

    def list(self, kind: Kind, labels: Mapping[str, str] | str | None = None, fields: str = "") -> Objects:
        """All of the namespace that have these labels, whatever their number."""
        return self.list_at(kind, labels, fields)[0]

    def list_at(
        self, kind: Kind, labels: Mapping[str, str] | str | None = None, fields: str = ""
    ) -> tuple[Objects, str]:
        """The objects, and the resourceVersion that they were read at. A list that a change made too old between two
        pages is begun again."""
        found: Objects = []
        query: dict[str, object] = {"limit": PAGE, "labelSelector": selector(labels), "fieldSelector": fields}
        while True:
            page = self.request("GET", kind.path(self.namespace), query={k: v for k, v in query.items() if v}).json()
            # Lists leave these out of their items; readers of one object and of many see the same here.
            found += [{"apiVersion": kind.api, "kind": kind.name, **item} for item in page["items"]]
            metadata = page["metadata"]
            if not (more := metadata.get("continue")):
                return found, metadata["resourceVersion"]
            query["continue"] = more

    def delete(
        self, kind: Kind, name: str, *, uid: str | None = None, grace: int | None = None, foreground: bool = False
    ) -> bool:
        """Whether there was one. With `uid`, only that very object: `conflict` if another one has taken its name."""
        body: Json = {"propagationPolicy": "Foreground" if foreground else "Background"}
        body |= {} if uid is None else {"preconditions": {"uid": uid}}
        body |= {} if grace is None else {"gracePeriodSeconds": grace}
        try:
            self.request("DELETE", kind.path(self.namespace, name), body=body, name=name)
        except ApiError as error:
            if error.object_missing:
                return False
            raise
        return True

    def patch(self, kind: Kind, name: str, change: Json) -> Json:
        """Merge `change` into the object (RFC 7386)."""
        path = kind.path(self.namespace, name)
        query = {"fieldValidation": "Strict"}
        return self.request("PATCH", path, query=query, body=change, content=MERGE, name=name).json()

    def own(self, kind: Kind, name: str, owner: Json) -> None:
        """Let `owner` (an object as the server gave it) take the object with it when it is deleted."""
        reference = {name: owner[name] for name in ("apiVersion", "kind")}
        reference |= {name: owner["metadata"][name] for name in ("name", "uid")}
        self.patch(kind, name, {"metadata": {"ownerReferences": [reference]}})

    def watch(
        self, kind: Kind, labels: Mapping[str, str] | str | None = None, *, told: Callable[[str], None] | None = None
    ) -> Watch:
        """Every change of these objects, from their present state on; see `Watch`."""
        return Watch(self, kind, selector(labels), told=told)

    # Pods

    def logs(
        self,
        pod: str,
        container: str | None = None,
        *,
        tail: int | None = None,
        limit_bytes: int | None = None,
        previous: bool = False,
    ) -> bytes | None:
        """What a container has printed; None if there is no such pod."""
        query = {
            "container": container,
            "tailLines": tail,
            "limitBytes": limit_bytes,
            "previous": "true" if previous else None,
        }
        given = {name: value for name, value in query.items() if value is not None}
        try:
            return self.request("GET", PODS.path(self.namespace, pod, "log"), query=given, name=pod).body
        except ApiError as error:
            if error.object_missing:
                return None
            raise

    def execute(
        self, pod: str, command: Command, *, container: str | None = None, stdin: bytes = b"", seconds: float = 60.0
    ) -> Executed:
        """Run a command in a pod's container and wait for its end; see `executing.execute`."""
        return execute(self, pod, command, container=container, stdin=stdin, seconds=seconds)

    # Requests

    def request(
        self,
        verb: str,
        path: str,
        *,
        query: Mapping[str, object] | None = None,
        body: Json | None = None,
        content: str = "application/json",
        name: str | None = None,
        read: float | None = None,
    ) -> Answer:
        """One request, answered by 2xx. `name`: of the object that a 404 would be about. `read`: its own timeout."""
        found = self.stream(verb, path, query=query, body=body, content=content, name=name, read=read)
        try:
            return Answer(found.data, dict(found.headers))
        except Exception as error:
            raise self.failed(f"{verb} {path}", name)(error) from error
        finally:
            found.release_conn()

    def stream(
        self,
        verb: str,
        path: str,
        *,
        query: Mapping[str, object] | None = None,
        body: Json | None = None,
        content: str = "application/json",
        name: str | None = None,
        read: float | None = None,
    ) -> BaseHTTPResponse:
        """As `request`, its body yet unread: whoever calls reads it and closes it."""
        did = f"{verb} {path}"
        asked = f"{path}?{urlencode(query)}" if query else path
        try:
            found: BaseHTTPResponse = self.client.call_api(
                asked,
                verb,
                header_params={"Accept": "application/json, */*", "Content-Type": content},
                body=body,
                auth_settings=["BearerToken"],
                _preload_content=False,
                _request_timeout=None if read is None else (CONNECT_SECONDS, read),
            )
        except Exception as error:
            raise self.failed(did, name)(error) from error
        return found

    def failed(self, did: str, name: str | None = None) -> Callable[[Exception], Exception]:
        """What makes an ApiError of an error that the libraries below raised; others stay as they are."""
        return lambda error: self._translate(did, error, name) or error

    def refused(self, did: str, status: int, body: bytes) -> ApiError:
        """The ApiError of a Status object that came within an answer."""
        return answered(self.cluster, did, status, body, {}, None)

    def _translate(self, did: str, error: Exception, name: str | None) -> ApiError | None:
        from kubernetes.client import ApiException
        from urllib3.exceptions import HTTPError

        if isinstance(error, ApiError):
            return error
        if isinstance(error, ApiException) and error.status:
            body = error.body or b""
            body = body.encode() if isinstance(body, str) else body
            return answered(self.cluster, did, error.status, body, error.headers or {}, name)
        if isinstance(error, ApiException | HTTPError | OSError):
            return unanswered(self.cluster, did, error)
        return None


def selector(labels: Mapping[str, str] | str | None) -> str:
    """`a=1,b=2`; a text is taken as it is."""
    if labels is None or isinstance(labels, str):
        return labels or ""
    return ",".join(f"{name}={value}" for name, value in labels.items())


__all__ = ["Answer", "Api", "ApiError", "Json", "selector"]
