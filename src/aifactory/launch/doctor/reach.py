"""Whether the API server answers, over which certificate, who it says that we are and until when, and its clock."""

from __future__ import annotations

import base64
import binascii
import json
import socket
import ssl
import stat
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from urllib.parse import urlsplit

from aifactory.errors import FactoryError
from aifactory.launch.clusters.kube import EnvToken
from aifactory.launch.doctor.line import Line, broken
from aifactory.launch.kuberay.api import Answer, Api
from aifactory.launch.kuberay.wire.errors import ApiError
from aifactory.launch.kuberay.wire.transport import CONNECT_SECONDS, ca_of, server_of

SKEW_SECONDS = 30.0
DAY = 86400.0
REVIEW = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}


def reach(api: Api) -> Iterator[Line]:
    """Lines `token`, `server`, `tls`, `clock`; the last one is broken where nothing more can be asked."""
    cluster = api.cluster
    try:
        api.tokens.current()
    except FactoryError as error:
        yield _certificate(api)
        yield broken("token", error)
        return
    yield from _token_file(api)
    sent = time.time()
    try:
        answer = api.request("GET", "/version")
    except ApiError as error:
        if error.code == "unauthorized":
            yield Line("server", "ok", f"answers at {server_of(cluster)}")
            yield _certificate(api)
            yield _refused(api, error)
        else:
            yield broken("tls" if error.code == "certificate" else "server", error)
        return
    took = time.time() - sent
    yield Line(
        "server", "ok", f"Kubernetes {answer.json()['gitVersion']} at {server_of(cluster)}, {took * 1000:.0f} ms"
    )
    yield _certificate(api)
    yield _clock(answer, sent + took / 2)
    try:
        who = api.request("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", body=dict(REVIEW)).json()
    except ApiError as error:
        yield _refused(api, error) if error.code == "unauthorized" else broken("token", error)
        return
    yield _valid(api, who["status"]["userInfo"]["username"])


def _clock(answer: Answer, ours: float) -> Line:
    """The server's Date has whole seconds: it is half a second later on average."""
    said = next((value for name, value in answer.headers.items() if name.lower() == "date"), None)
    if said is None:
        return Line("clock", "note", "the server doesn't say its time")
    apart = ours - (parsedate_to_datetime(said).timestamp() + 0.5)
    if abs(apart) < SKEW_SECONDS:
        return Line("clock", "ok", f"{abs(apart):.0f} s apart from the server's")
    how = "ahead of" if apart > 0 else "behind"
    return Line(
        "clock",
        "broken",
        f"ours is {abs(apart):.0f} s {how} the server's, and budgets and tokens are counted by both",
        "set the clock of this machine, or of the server, by NTP",
    )


def _certificate(api: Api) -> Line:
    """Read off a connection of its own, since an HTTP library keeps it to itself."""
    cluster = api.cluster
    url = urlsplit(server_of(cluster))
    context = ssl.create_default_context(cafile=ca_of(cluster))
    signer = cluster.ca_file or "a CA of this system"
    try:
        with (
            socket.create_connection((url.hostname or "", url.port or 443), CONNECT_SECONDS) as plain,
            context.wrap_socket(plain, server_hostname=url.hostname) as secure,
        ):
            certificate = secure.getpeercert() or {}
    except ssl.SSLCertVerificationError as error:
        return Line(
            "tls",
            "broken",
            f"the server's certificate isn't one that {signer} signed for {url.hostname}: {error.verify_message}",
            f"correct ca_file or server of [{cluster.name}] in clusters.toml",
        )
    except OSError as error:
        return Line("tls", "note", f"not looked at: no direct connection to {url.netloc} ({error})")
    ends = ssl.cert_time_to_seconds(str(certificate["notAfter"]))
    text = f"signed by {signer}, until {_at(ends)}"
    if ends - time.time() < 14 * DAY:
        return Line("tls", "warning", text, "renew the API server's certificate")
    return Line("tls", "ok", text)


def _token_file(api: Api) -> Iterator[Line]:
    path = api.tokens.path()
    # Kubernetes mounts a pod's own token readable for all of that pod.
    if path is None or api.cluster.token.source == "in-cluster":
        return
    mode = stat.S_IMODE(path.stat().st_mode)
    if mode & 0o007:
        text = f"{path} has mode {mode:o}: everybody on this machine can use the launcher's token"
        yield Line("token file", "warning", text, f"chmod o= {path}")


def _refused(api: Api, error: ApiError) -> Line:
    ends = _ends(api.tokens.current())
    if ends is not None and ends < time.time():
        return Line("token", "broken", f"it ended at {_at(ends)}, {_span(time.time() - ends)} ago", error.fix)
    return Line("token", "broken", f"the server doesn't know it: {error.found}", error.fix)


def _valid(api: Api, user: str) -> Line:
    ends = _ends(api.tokens.current())
    if ends is None:
        return Line("token", "ok", f"{user}; it doesn't say until when")
    left = ends - time.time()
    text = f"{user}, until {_at(ends)} ({_span(left)})"
    if isinstance(api.cluster.token, EnvToken) and left < 7 * DAY:
        fix = 'use source = "file" or "exec": a variable stays as it is until the control plane starts again'
        return Line("token", "warning", text, fix)
    return Line("token", "ok", text)


def _ends(token: str) -> float | None:
    """When a JWT ends, by what it says itself; whether that is true is the server's business."""
    try:
        body = token.split(".")[1]
        claims = json.loads(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)))
        return float(claims["exp"])
    except (IndexError, KeyError, TypeError, ValueError, binascii.Error):
        return None


def _at(seconds: float) -> str:
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M} UTC"


def _span(seconds: float) -> str:
    for unit, length in (("d", DAY), ("h", 3600.0)):
        if seconds >= 2 * length:
            return f"{seconds / length:.0f} {unit}"
    return f"{seconds / 60:.0f} min"
