"""A proxy that reads what is asked: it answers with errors, cuts watches, and counts calls."""

from __future__ import annotations

import asyncio
import json
import re
import ssl
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from tests.faults.proxy import Link, Reader, TcpProxy, Writer

RESOURCE = re.compile(
    r"^/(?:api|apis/(?P<group>[^/]+))/(?P<version>[^/]+)(?:/namespaces/(?P<namespace>[^/]+)(?=/))?"
    r"/(?P<plural>[^/]+)(?:/(?P<name>[^/]+))?(?P<sub>/.+)?$"
)
VERBS = {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}
REASONS = {429: "TooManyRequests", 500: "InternalError", 503: "ServiceUnavailable", 504: "Timeout", 410: "Expired"}


@dataclass
class Call:
    """One request. `verb` is Kubernetes' (get, list, watch, create, ...), `what` the resource with its subresource, or
    the path where it is none. `status`: of the answer, None while there is none. `at`: time.monotonic()."""

    method: str
    path: str
    query: dict[str, str]
    at: float = field(default_factory=time.monotonic)
    status: int | None = None
    ours: bool = False

    @property
    def verb(self) -> str:
        if self.method != "GET":
            return VERBS.get(self.method, self.method.lower())
        if self.query.get("watch") in ("true", "1"):
            return "watch"
        found = RESOURCE.match(self.path)
        return "list" if found and not found["name"] else "get"

    @property
    def what(self) -> str:
        found = RESOURCE.match(self.path)
        return found["plural"] + (found["sub"] or "") if found else self.path


@dataclass(eq=False)
class Answer:
    """What is answered instead of asking the server."""

    status: int
    which: Callable[[Call], bool]
    retry_after: int | None
    left: float


class HttpProxy(TcpProxy):
    """Ends TLS with a certificate of its own (`ca_file`), and forwards each request over a connection of its own, with
    the client's token. All faults of TcpProxy too; `cut` is asked with the Call."""

    def __init__(self, server: str, server_ca: Path, directory: Path) -> None:
        super().__init__(server)
        self.calls: list[Call] = []
        self._answers: list[Answer] = []
        self.ca_file, key = directory / "proxy.crt", directory / "proxy.key"
        subprocess.run(
            [
                *("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"),
                *("-subj", "/CN=proxy", "-addext", "subjectAltName=IP:127.0.0.1", "-days", "2"),
                *("-keyout", str(key), "-out", str(self.ca_file)),
            ],
            check=True,
            capture_output=True,
        )
        self._certificate = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._certificate.load_cert_chain(self.ca_file, key)
        self._upstream = ssl.create_default_context(cafile=str(server_ca))

    @contextmanager
    def answering(
        self,
        status: int,
        which: Callable[[Call], bool] = lambda call: True,
        *,
        retry_after: int | None = None,
        times: float = float("inf"),
    ) -> Iterator[None]:
        """The first `times` of these calls get this status, and never reach the server."""
        answer = Answer(status, which, retry_after, times)
        self._answers.append(answer)
        try:
            yield
        finally:
            self._answers.remove(answer)

    def cut_watches(self, what: str | None = None) -> int:
        """Reset the open watches (of one resource); how many there were."""
        return self.cut(lambda call: call is not None and call.verb == "watch" and what in (None, call.what))

    def counts(self) -> Counter[tuple[str, str]]:
        """Calls by verb and resource."""
        return Counter((one.verb, one.what) for one in list(self.calls))

    def _tls(self) -> ssl.SSLContext | None:
        return self._certificate

    async def _serve(self, reader: Reader, link: Link) -> None:
        head = (await reader.readuntil(b"\r\n\r\n"))[:-4].decode("latin-1")
        first, *lines = head.split("\r\n")
        method, target, _ = first.split(" ", 2)
        headers = [(name.lower(), value.strip()) for name, _, value in (line.partition(":") for line in lines)]
        known = dict(headers)
        body = await reader.readexactly(int(known.get("content-length", 0)))
        url = urlsplit(target)
        call = link.about = Call(method, url.path, {name: value[-1] for name, value in parse_qs(url.query).items()})
        self.calls.append(call)
        answer = next((one for one in self._answers if one.left > 0 and one.which(call)), None)
        if answer is not None:
            answer.left -= 1
            call.status, call.ours = answer.status, True
            await self._say(link.client, answer)
            return
        upgrades = "upgrade" in known
        # One request a connection: where an answer ends is then where its connection ends.
        kept = [one for one in headers if upgrades or one[0] != "connection"]
        kept += [] if upgrades else [("connection", "close")]
        answers, link.server = await asyncio.open_connection(
            self.host, self.port, ssl=self._upstream, server_hostname=self.host
        )
        link.server.write("\r\n".join([first, *(f"{name}: {value}" for name, value in kept), "", ""]).encode("latin-1"))
        link.server.write(body)
        await link.server.drain()
        await self._both(self._pump(reader, link.server), self._answered(answers, link, call))

    async def _answered(self, answers: Reader, link: Link, call: Call) -> None:
        line = await answers.readline()
        await self._pause()
        call.status = int(line.split()[1]) if line else None
        link.client.write(line)
        await self._pump(answers, link.client)

    async def _say(self, client: Writer, answer: Answer) -> None:
        reason = REASONS.get(answer.status, "Unknown")
        status = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": answer.status, "reason": reason}
        body = json.dumps(status | {"message": f"{reason}, says the proxy of the test", "metadata": {}}).encode()
        wait = [] if answer.retry_after is None else [f"Retry-After: {answer.retry_after}"]
        head = [f"HTTP/1.1 {answer.status} {reason}", "Content-Type: application/json", f"Content-Length: {len(body)}"]
        client.write("\r\n".join([*head, *wait, "Connection: close", "", ""]).encode() + body)
        await client.drain()
