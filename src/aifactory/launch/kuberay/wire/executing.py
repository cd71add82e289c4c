"""A command in a container of a pod, over the API server's websocket."""

from __future__ import annotations

import json
import ssl
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from aifactory.launch.kuberay.wire.errors import ApiError, answered, unanswered
from aifactory.launch.kuberay.wire.kinds import PODS
from aifactory.launch.kuberay.wire.transport import CONNECT_SECONDS, ca_of, server_of

if TYPE_CHECKING:
    from aifactory.launch.kuberay.api import Api

PROTOCOLS = ["v5.channel.k8s.io", "v4.channel.k8s.io"]
STDIN, STDOUT, STDERR, RESULT, CLOSE = 0, 1, 2, 3, 255
PIECE = 1 << 15


@dataclass(frozen=True)
class Executed:
    """How a command ended: its exit code, and all that it wrote."""

    code: int
    stdout: bytes
    stderr: bytes


def execute(api: Api, pod: str, command: list[str], *, container: str | None, stdin: bytes, seconds: float) -> Executed:
    """Run `command` (no shell) and wait for its end, at most `seconds`. Raises ApiError: `not_found` for a pod that
    isn't there, `unreachable` if the connection or the time ended before the command did; it may then still run."""
    from websocket import WebSocketTimeoutException

    did = f"exec in {api.namespace}/{pod}: {command[0]}"
    socket = _connect(api, pod, command, container, bool(stdin), did)
    ends = time.monotonic() + seconds
    streams = {STDOUT: bytearray(), STDERR: bytearray(), RESULT: bytearray()}
    try:
        for start in range(0, len(stdin), PIECE):
            socket.settimeout(max(0.01, ends - time.monotonic()))
            socket.send_binary(bytes([STDIN]) + stdin[start : start + PIECE])
        if stdin:
            _end_stdin(socket, did, api)
        while not streams[RESULT]:
            socket.settimeout(max(0.01, ends - time.monotonic()))
            frame = socket.recv()
            data = frame if isinstance(frame, bytes) else frame.encode()
            if not data and not socket.connected:
                raise ConnectionError("the connection ended before the command did")
            if data and data[0] in streams:
                streams[data[0]] += data[1:]
    except ApiError:
        raise
    except WebSocketTimeoutException:
        raise unanswered(api.cluster, did, TimeoutError(f"no end within {seconds:.0f} s")) from None
    except Exception as error:
        raise _failed(api, did, error, pod) from error
    finally:
        socket.close(timeout=1)
    return Executed(_code(streams[RESULT], api, did), bytes(streams[STDOUT]), bytes(streams[STDERR]))


def _connect(api: Api, pod: str, command: list[str], container: str | None, stdin: bool, did: str) -> Any:
    query: list[tuple[str, str]] = [("command", word) for word in command]
    query += [("stdout", "true"), ("stderr", "true"), ("stdin", "true" if stdin else "false")]
    query += [] if container is None else [("container", container)]
    url = f"{server_of(api.cluster)}{PODS.path(api.namespace, pod, 'exec')}?{urlencode(query)}"
    used = api.tokens.current()
    try:
        return _open(api, url, used, did, pod)
    except ApiError as error:
        if error.status != 401:
            raise
        api.tokens.renew(used)
        if (token := api.tokens.current()) == used:
            raise
        return _open(api, url, token, did, pod)


def _open(api: Api, url: str, token: str, did: str, pod: str) -> Any:
    from websocket import create_connection

    tls = {"context": ssl.create_default_context(cafile=ca_of(api.cluster))}
    try:
        return create_connection(
            url.replace("https://", "wss://", 1),
            timeout=CONNECT_SECONDS * 2,
            sslopt=tls,
            header=[f"Authorization: Bearer {token}"],
            subprotocols=PROTOCOLS,
        )
    except Exception as error:
        raise _failed(api, did, error, pod) from None


def _end_stdin(socket: Any, did: str, api: Api) -> None:
    """Only the newer protocol can say that there is no more input."""
    if socket.getsubprotocol() != PROTOCOLS[0]:
        raise unanswered(api.cluster, did, ValueError("this server can't end a command's input (Kubernetes 1.30 can)"))
    socket.send_binary(bytes([CLOSE, STDIN]))


def _failed(api: Api, did: str, error: Exception, pod: str) -> ApiError:
    from websocket import WebSocketBadStatusException

    if isinstance(error, WebSocketBadStatusException):
        body = error.resp_body or b""
        body = body if isinstance(body, bytes) else str(body).encode()
        return answered(api.cluster, did, error.status_code, body, error.resp_headers or {}, pod)
    return unanswered(api.cluster, did, error)


def _code(result: bytearray, api: Api, did: str) -> int:
    """Of the Status object that ends a command."""
    status = json.loads(result)
    if status.get("status") == "Success":
        return 0
    causes = (status.get("details") or {}).get("causes") or []
    for cause in causes:
        if cause.get("reason") == "ExitCode":
            return int(cause["message"])
    raise answered(api.cluster, did, int(status.get("code") or 500), bytes(result), {}, None)
