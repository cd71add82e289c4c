"""The tick of the nightly smoke over real records: what it asks for, and what it says when it asks for nothing."""

from __future__ import annotations

import socket
import ssl
import subprocess
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from aifactory.errors import FactoryError
from aifactory.launch.images.verifications import Verification, record
from aifactory.launch.scope import VARIABLE
from aifactory.namespace import Namespace
from aifactory.orchestrate.folders import defined
from tests.orchestrate.lab import CHECKOUT, Lab, make

NIGHT = datetime(2026, 12, 1, 1, tzinfo=UTC)
IMAGE, OCI = "a" * 64, f"sha256:{'b' * 64}"
SMOKE = """
[tool.aifactory.smoke]
data = "public/words/ready"
suites = ["public/words/quiz"]
places.east = { queue = "night", priority = "low" }
"""
CLUSTER = """
[{name}]
backend = "kuberay"
server = "https://127.0.0.1:{port}"
ca_file = "{ca}"
token = {{ source = "env", variable = "TOKEN" }}
namespace = "training"
site = "lab"
ray_version = "2.60.0"
scheduler = "kueue"
queues = ["night"]
priorities = ["low"]
volumes.public = {{ kind = "pvc", claim = "factory" }}
accounts.public = "factory"
shapes.small = {{ workers = 2, gpus = 0, cpus = 1, memory = "4Gi" }}
"""


@pytest.fixture
def instance(tmp_path: Path) -> Iterator[dg.DagsterInstance]:
    """One that a tick can find again: it is handed over by reference."""
    with dg.DagsterInstance.local_temp(str(tmp_path)) as instance:
        yield instance


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate of 127.0.0.1, signed by itself, and its key."""
    path = tmp_path_factory.mktemp("tls") / "server.pem"
    command = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=smoke"
    names = ("-addext", "subjectAltName=IP:127.0.0.1", "-keyout", path, "-out", path.with_suffix(".crt"))
    subprocess.run(["openssl", *command.split(), *names], check=True, capture_output=True)
    path.write_text(path.read_text() + path.with_suffix(".crt").read_text())
    return path


class Answers(BaseHTTPRequestHandler):
    """An API server without any RayJobs."""

    def do_GET(self) -> None:
        body = b'{"items": [], "metadata": {"resourceVersion": "1"}}'
        allowed = self.headers["Authorization"] == "Bearer secret"
        self.send_response(200 if allowed else 401)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments: Any) -> None:
        return


@pytest.fixture
def port(certificate: Path) -> Iterator[int]:
    """Where an API server answers."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certificate)
    server.socket = tls.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server.server_address[1]
    server.shutdown()
    server.server_close()


@pytest.fixture
def lab(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory, certificate: Path, port: int) -> Lab:
    """Two clusters that answer, a pinned image, a declared smoke."""
    lab = make(tmp_path_factory.mktemp("nights"), monkeypatch)
    monkeypatch.setenv("TOKEN", "secret")
    clusters = "".join(cluster(name, port, certificate) for name in ("east", "west"))
    lab.write("clusters.toml", '[local]\nbackend = "local"\n' + clusters)
    pin(lab, IMAGE)
    lab.write("pyproject.toml", SMOKE)
    return lab


def cluster(name: str, port: int, certificate: Path) -> str:
    return CLUSTER.format(name=name, port=port, ca=certificate.with_suffix(".crt"))


def pin(lab: Lab, digest: str, oci: str = OCI) -> None:
    lab.write("images.toml", f'[train]\ndigest = "{digest}"\nreference = "registry.example/train@{oci}"\n')


def tick(instance: dg.DagsterInstance, days: int = 0) -> tuple[list[dg.RunRequest], str]:
    """What the schedule asks for on that night, and what it says when it asks for nothing."""
    (schedule,) = [
        one for one in defined(CHECKOUT, "schedules", (dg.ScheduleDefinition,)) if one.name.startswith("nightly_smoke")
    ]
    at = NIGHT + timedelta(days=days)
    found = schedule.evaluate_tick(dg.build_schedule_context(instance, scheduled_execution_time=at))
    return list(found.run_requests or []), found.skip_message or ""


def refused(instance: dg.DagsterInstance) -> str:
    """What a tick that fails says."""
    with pytest.raises(dg.DagsterError) as caught:
        tick(instance)
    assert isinstance(caught.value.__cause__, FactoryError)
    return str(caught.value.__cause__)


def prove(cluster: str, digest: str = IMAGE, run: str = "smoke-east-1") -> None:
    ns = Namespace.open()
    ns.class_root("public").mkdir(parents=True, exist_ok=True)
    record(ns, "public", "train", Verification(digest, OCI, run, cluster, smoke=1))


def test_an_image_that_nothing_has_proved_is_asked_for_once_a_night_and_cluster_behind_everything_else(
    lab: Lab, instance: dg.DagsterInstance
) -> None:
    requests, _ = tick(instance)
    east, west = requests
    config = {"cluster": "east", "image": IMAGE, "queue": "night", "priority": "low"}
    assert east.run_config == {"ops": {"smoke": {"config": config}}}
    assert west.run_config == {"ops": {"smoke": {"config": {"cluster": "west", "image": IMAGE}}}}
    assert (east.tags["dagster/priority"], east.tags["factory/requester"]) == ("-10", "nightly_smoke")
    again, _ = tick(instance)
    assert [one.run_key for one in again] == [one.run_key for one in requests]
    tomorrow, _ = tick(instance, days=1)
    assert not {one.run_key for one in tomorrow} & {one.run_key for one in requests}


def test_a_green_image_is_skipped_with_its_proof_until_another_one_is_pinned(
    lab: Lab, instance: dg.DagsterInstance
) -> None:
    for cluster in ("east", "west"):
        prove(cluster, run=f"smoke-{cluster}-1")
    requests, said = tick(instance)
    assert requests == []
    for cluster in ("east", "west"):
        assert f"{cluster}, image {IMAGE[:16]}: green: verified by smoke-{cluster}-1 on " in said
    pin(lab, "c" * 64)
    requests, _ = tick(instance, days=1)
    assert [one.tags["factory/cluster"] for one in requests] == ["east", "west"]
    pin(lab, IMAGE, f"sha256:{'d' * 64}")  # the same inputs, built anew: what is pulled is not what was proved
    assert len(tick(instance, days=2)[0]) == 2


def test_a_cluster_that_is_down_is_told_and_the_other_goes_on(
    lab: Lab, instance: dg.DagsterInstance, certificate: Path, port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        gone = closed.getsockname()[1]
    text = (lab.root / "clusters.toml").read_text()
    west = cluster("west", port, certificate)
    lab.write("clusters.toml", text.replace(west, cluster("west", gone, certificate)))
    requests, _ = tick(instance)
    assert [one.tags["factory/cluster"] for one in requests] == ["east"]
    prove("east")
    requests, said = tick(instance, days=1)
    assert requests == []
    assert f"west, image {IMAGE[:16]}: DOWN: " in said
    assert str(gone) in said
    monkeypatch.setenv("TOKEN", "another")
    requests, said = tick(instance, days=2)
    assert (requests, said.count("DOWN")) == ([], 2)
    assert "401" in said


def test_one_that_dagster_is_asked_for_already_is_waited_for(lab: Lab, instance: dg.DagsterInstance) -> None:
    (east, _) = tick(instance)[0]
    (job,) = [one for one in defined(CHECKOUT, "jobs", (dg.JobDefinition,)) if one.name == "smoke"]
    asked = instance.create_run_for_job(job, tags=dict(east.tags), status=dg.DagsterRunStatus.STARTED)
    requests, _ = tick(instance, days=1)
    assert [one.tags["factory/cluster"] for one in requests] == ["west"]
    prove("west")
    assert f"at it: the Dagster run {asked.run_id[:8]} is at it since" in tick(instance, days=1)[1]


def test_what_is_not_declared_or_not_public_here_is_said(
    lab: Lab, instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab.write("images.toml", "")
    assert "pins no image train" in refused(instance)
    lab.write("pyproject.toml", SMOKE.replace("public/words/ready", "private/ward/ready"))
    with pytest.raises(FactoryError, match="names data that is not public"):
        tick(instance)  # when it looks is a setting too, so that definitions with wrong settings don't load
    lab.write("pyproject.toml", "")
    assert "no smoke is declared" in tick(instance)[1]
    monkeypatch.setenv(VARIABLE, "private/ward")
    assert "the location that executes what is public" in tick(instance)[1]
