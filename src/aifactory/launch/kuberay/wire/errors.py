"""What went wrong between us and an API server, as people read it and as the launcher decides by it."""

from __future__ import annotations

import json
from collections.abc import Mapping

from aifactory.errors import FactoryError
from aifactory.launch.clusters.kube import KubeCluster

WORDS = {400: "invalid", 401: "unauthorized", 403: "forbidden", 404: "not_found", 405: "invalid"}
WORDS |= {409: "conflict", 410: "gone", 413: "invalid", 415: "invalid", 422: "invalid", 429: "busy"}
LONGEST = 600


class ApiError(FactoryError):
    """`status` is the HTTP status, 0 where no answer came. `reason` is the word of the server's Status object,
    `object_missing` whether a 404 is about the object itself and not about its kind or namespace. `transient`: the
    same call may succeed later; `after`: seconds that the server asks us to wait."""

    status = 0
    reason = ""
    object_missing = False
    transient = False
    after: float | None = None


def answered(
    cluster: KubeCluster, did: str, status: int, body: bytes, headers: Mapping[str, str], name: str | None
) -> ApiError:
    """The error of an answer that is none of 2xx."""
    said, reason, details = _status(body)
    word = WORDS.get(status, "server" if status >= 500 else "invalid")
    error = ApiError(
        f"{cluster.name} ({cluster.server or 'in cluster'}): {did}: {status} {word}",
        found=said,
        fix=_fix(status, cluster, reason),
        code=word,
    )
    error.status, error.reason = status, reason
    error.object_missing = status == 404 and name is not None and details.get("name") == name
    error.transient = status in (408, 429) or status >= 500
    error.after = _seconds(headers.get("Retry-After")) or _seconds(details.get("retryAfterSeconds"))
    return error


def unanswered(cluster: KubeCluster, did: str, error: Exception) -> ApiError:
    """The error of a call that got no answer: certificate, address, connection, timeout."""
    said = " ".join(str(getattr(error, "reason", "") or error).split())
    where = f"{cluster.name} ({cluster.server or 'in cluster'})"
    if "certificate verify failed" in said.lower() or "CERTIFICATE_VERIFY_FAILED" in said:
        return ApiError(
            f"{where}: {did}: the server's certificate is not signed by our CA, or is for another name",
            found=said[:LONGEST],
            expected=f"one that {cluster.ca_file or 'a CA of this system'} signed",
            fix=f"correct ca_file or server of [{cluster.name}] in clusters.toml",
            code="certificate",
        )
    found = ApiError(
        f"{where}: {did}: no answer",
        found=f"{type(error).__name__}: {said[:LONGEST]}",
        fix=f"look whether the address is right and the server is up: `aifactory doctor {cluster.name}`",
        code="unreachable",
    )
    found.transient = True
    return found


def _status(body: bytes) -> tuple[str, str, Mapping[str, object]]:
    try:
        value = json.loads(body)
        return str(value.get("message", ""))[:LONGEST], str(value.get("reason", "")), value.get("details") or {}
    except (ValueError, AttributeError):
        return body.decode(errors="replace").strip()[:LONGEST], "", {}


def _fix(status: int, cluster: KubeCluster, reason: str) -> str:
    doctor = f"`aifactory doctor {cluster.name}`"
    if status == 401:
        return (
            f"give [{cluster.name}] a token that is valid now (source {cluster.token.source}); {doctor} says until when"
        )
    if status == 403:
        return (
            f"{doctor} lists the rights that our account lacks; quota and webhooks answer 403 too, in their own words"
        )
    if status == 404:
        return f"{doctor} says whether namespace {cluster.namespace} and the kinds that we need are there"
    if status == 409:
        return "wait until the object is gone, or read it again" if reason != "AlreadyExists" else "read what is there"
    if status == 429 or status >= 500:
        return f"try again; if it stays, look at the API server and its webhooks: {doctor}"
    return "correct what the server names"


def _seconds(value: object) -> float | None:
    try:
        return max(0.0, float(value)) if value else None  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None
