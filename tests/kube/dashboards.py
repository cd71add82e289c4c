"""Ray dashboards that a test plays: the operator asks this server, through its HTTP proxy setting, instead of pods."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Literal
from urllib.parse import urlsplit

Status = Literal["PENDING", "RUNNING", "SUCCEEDED", "FAILED", "STOPPED"]
ENDED = ("SUCCEEDED", "FAILED", "STOPPED")


@dataclass
class PlayedJob:
    """One Ray job, by namespace and submission id (the attempt's name). Set what the operator shall see; `asked` and
    `stops` count its questions and its calls to stop, `tokens` holds the Authorization headers that came with them.

    `refuses` is an HTTP status with which every question is answered instead (404: the dashboard knows no such job).
    `on_stop` is called at each stop.
    """

    namespace: str
    id: str
    status: Status = "RUNNING"
    message: str = ""
    refuses: int | None = None
    stop_ends: bool = True
    asked: int = 0
    stops: int = 0
    tokens: set[str] = field(default_factory=set)
    began: float = field(default_factory=time.time)
    ended: float = 0.0
    on_stop: Callable[[], None] | None = None

    def end(self, status: Status, message: str = "") -> None:
        self.status, self.message, self.ended = status, message, time.time()

    def answer(self) -> dict[str, object]:
        if self.status in ENDED and not self.ended:
            self.ended = time.time()
        return {
            "type": "SUBMISSION",
            "job_id": "01000000",
            "submission_id": self.id,
            "entrypoint": "python -m aifactory.run",
            "status": self.status,
            "message": self.message or f"Job is {self.status.lower()}.",
            "start_time": int(self.began * 1000),
            "end_time": int(self.ended * 1000),
        }


class Dashboards:
    """The dashboards of one cluster. `default`: what a job is that no test has set; `newcomers`, by namespace, are told
    of a job when it is asked about for the first time."""

    def __init__(self) -> None:
        self.default: Status = "RUNNING"
        self.newcomers: dict[str, Callable[[PlayedJob], None]] = {}
        self._jobs: dict[tuple[str, str], PlayedJob] = {}
        self._lock = threading.Lock()

    def job(self, namespace: str, name: str) -> PlayedJob:
        """The job `name` of a namespace, which may come later."""
        with self._lock:
            return self._jobs.setdefault((namespace, name), PlayedJob(namespace, name, self.default))


def _handler(dashboards: Dashboards) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            """`/api/jobs/<id>`"""
            job = self._job(self._path()[2])
            job.asked += 1
            if job.asked == 1 and (newcomer := dashboards.newcomers.get(job.namespace)):
                newcomer(job)
            self._say(job.refuses or 200, job.answer() if not job.refuses else {})

        def do_POST(self) -> None:
            """`/api/jobs/` (HTTPMode submits) or `/api/jobs/<id>/stop`"""
            body = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"{}")
            path = self._path()
            if path[-1] != "stop":
                name = str(body.get("submission_id", ""))
                self._job(name)
                return self._say(200, {"job_id": name, "submission_id": name})
            job = self._job(path[2])
            job.stops += 1
            if job.on_stop:
                job.on_stop()
            if job.stop_ends and job.status not in ENDED:
                job.end("STOPPED", "Job was stopped.")
            self._say(job.refuses or 200, {"stopped": True})

        def _path(self) -> list[str]:
            return [part for part in urlsplit(self.path).path.split("/") if part]

        def _job(self, name: str) -> PlayedJob:
            # <Ray cluster>-head-svc.<namespace>.svc.cluster.local
            job = dashboards.job((urlsplit(self.path).hostname or "").split(".")[1], name)
            job.tokens.add(self.headers.get("Authorization") or self.headers.get("x-ray-authorization") or "")
            return job

        def _say(self, code: int, body: object) -> None:
            data = json.dumps(body).encode()
            self.send_response(code)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *arguments: object) -> None:
            pass

    return Handler


@contextmanager
def served(port: int = 0) -> Iterator[tuple[Dashboards, str]]:
    """Dashboards and their address, for as long as the context lasts."""
    dashboards = Dashboards()
    server = ThreadingHTTPServer(("127.0.0.1", port), _handler(dashboards))
    thread = threading.Thread(target=server.serve_forever, daemon=True, name="dashboards")
    thread.start()
    try:
        yield dashboards, f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
