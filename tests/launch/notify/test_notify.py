"""Notices, told to a real HTTP server that is healthy, busy, slow, away, or sends them elsewhere."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from aifactory.channel.payloads import Failure
from aifactory.errors import FactoryError
from aifactory.launch import RunResult
from aifactory.launch.notify.notice import Notice, of_run
from aifactory.launch.notify.notifier import VARIABLE, Log, notifier
from aifactory.launch.notify.webhook import Webhook
from aifactory.project import Project
from tests.orchestrate.lab import Lab, make

NOTICE = Notice("the smoke is red on east", "step killed", "/runs/1", ("team:platform",), {"run": "smoke-east-1"})
SECRET = "T0K3N-of-the-hook"


class Server:
    """A receiver of webhooks that answers as it is told to."""

    def __init__(self, answers: list[int | str]):
        self.answers, self.heard, self.paths = answers, [], []  # type: ignore[var-annotated]
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                outer.heard.append(json.loads(body))
                outer.paths.append(self.path)
                answer = outer.answers.pop(0) if outer.answers else 200
                if answer == "silent":
                    time.sleep(2)
                elif answer == "reset":
                    self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
                    self.connection.close()
                elif answer == "elsewhere":
                    self.send_response(302)
                    self.send_header("Location", f"http://127.0.0.1:{outer.port}/other")
                    self.end_headers()
                elif answer == "endless":
                    self.send_response(200)
                    self.send_header("Content-Length", "1000000000")
                    self.end_headers()
                else:
                    self.send_response(int(answer))
                    self.send_header("Retry-After", "3600")
                    self.end_headers()

            def log_message(self, *arguments: Any) -> None:
                return

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]
        self.address = f"http://127.0.0.1:{self.port}/hooks/{SECRET}"


@contextmanager
def receiver(*answers: int | str) -> Iterator[Server]:
    server = Server(list(answers))
    thread = threading.Thread(target=server.server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.server.shutdown()
        server.server.server_close()


def tell(server: Server, *, tries: int = 4, timeout: float = 0.5) -> str:
    return Webhook(server.address, timeout, tries, pause=0.01).tell(NOTICE)


def test_a_notice_arrives_whole_as_json() -> None:
    with receiver() as server:
        assert tell(server) == ""
        assert server.heard == [NOTICE.document()]
    assert server.heard[0]["text"] == "the smoke is red on east\nstep killed\n/runs/1"
    assert server.heard[0]["facts"] == {"run": "smoke-east-1"}


@pytest.mark.parametrize("fault", [429, 500, 503, "reset", "silent"])
def test_what_passes_is_tried_again(fault: int | str) -> None:
    with receiver(fault, fault) as server:
        assert tell(server) == ""
        assert server.heard == [NOTICE.document()] * 3


@pytest.mark.parametrize(
    ("answers", "said", "times"),
    [
        ([503] * 9, "answered 503", 4),
        ([400], "answered 400", 1),
        (["elsewhere"], "answered 302", 1),
        (["reset"] * 9, "could not be reached 4 times", 4),
        (["silent"] * 9, "could not be reached 4 times", 4),
    ],
)
def test_what_does_not_pass_is_said_after_a_bounded_time_and_without_the_secret(
    answers: list[int | str], said: str, times: int
) -> None:
    with receiver(*answers) as server:
        began = time.monotonic()
        found = tell(server)
        assert time.monotonic() - began < 10
        assert f"127.0.0.1:{server.port}" in found
        assert said in found
        assert len(server.heard) == times
    assert SECRET not in found
    assert SECRET not in repr(Webhook(server.address))


def test_an_answer_without_an_end_holds_nobody_up() -> None:
    with receiver("endless") as server:
        began = time.monotonic()
        assert tell(server, timeout=5) == ""
        assert time.monotonic() - began < 3


def test_nobody_there_and_a_host_that_is_none() -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    for host in (f"127.0.0.1:{port}", "nowhere.invalid"):
        found = Webhook(f"http://{host}/hooks/{SECRET}", 1.0, 2, pause=0.01).tell(NOTICE)
        assert found.startswith(f"{host} could not be reached")
        assert SECRET not in found


def result(tmp_path: Path) -> RunResult:
    error = Failure(type="ValueError", text="patient 4711 is not a number", trace="4711", code="rows")
    return RunResult("train-notes-1", tmp_path, "failed_code", 2, (), error)


def test_of_a_private_run_no_word_of_its_own_leaves(tmp_path: Path) -> None:
    private = of_run(result(tmp_path), "private/ward", "a run failed", text="patient 4711", link="/runs/1")
    assert "4711" not in json.dumps(private.document())
    assert private.facts == {"run": "train-notes-1", "outcome": "failed_code", "attempt": "2", "code": "rows"}
    assert "patient 4711" in json.dumps(of_run(result(tmp_path), "public", "t", text="patient 4711").document())


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lab:
    monkeypatch.delenv(VARIABLE, raising=False)
    return make(tmp_path, monkeypatch)


def test_without_settings_the_log_is_told_and_with_a_webhook_both(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    assert isinstance(notifier(Project.current(), said.append), Log)
    notifier(Project.current(), said.append).tell(NOTICE)
    assert said == ["the smoke is red on east (for team:platform)\nstep killed\n/runs/1"]
    with receiver(400) as server:
        lab.write("pyproject.toml", f'[tool.aifactory.notify]\nwebhook = "{server.address}"\n')
        assert notifier(Project.current(), said.append).tell(NOTICE) == f"127.0.0.1:{server.port} answered 400"
        assert said[-1] == f"the notice was not delivered: 127.0.0.1:{server.port} answered 400"
        monkeypatch.setenv(VARIABLE, server.address.replace("/hooks/", "/of-the-environment/"))
        assert notifier(Project.current(), said.append).tell(NOTICE) == ""
        assert server.paths[-1] == f"/of-the-environment/{SECRET}"


@pytest.mark.parametrize("table", [f'webhook = "ftp://{SECRET}"', f'hook = "{SECRET}"', "tries = 0"])
def test_a_setting_that_is_wrong_is_named_without_its_value(lab: Lab, table: str) -> None:
    lab.write("pyproject.toml", f"[tool.aifactory.notify]\n{table}\n")
    with pytest.raises(FactoryError, match=rf"notify\.{table.partition(' ')[0]} is wrong") as caught:
        notifier(Project.current(), print)
    assert caught.value.code == "notify"
    assert SECRET not in str(caught.value)
