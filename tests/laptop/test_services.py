"""A real code server, daemon and web server: found again, asked, ended with everything that they left."""

import os
import signal
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from aifactory.errors import FactoryError
from aifactory.laptop import ports, processes
from aifactory.laptop.graphql import ACTIVE, Client, wait
from aifactory.laptop.service import Service
from aifactory.laptop.services import UI_PORT_VARIABLE, Services, State, logs
from aifactory.laptop.watch import Watch
from aifactory.launch.scope import VARIABLE
from aifactory.project import Project
from tests.laptop import toy


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return toy.project(tmp_path_factory.mktemp("lab"))


@pytest.fixture(scope="module")
def services(project: Project) -> Iterator[Services]:
    started = Services(project)
    started.start()
    yield started
    started.stop()


@pytest.fixture
def client(services: Services) -> Client:
    return services.client()


def test_the_second_start_finds_the_first_and_its_address(services: Services):
    client, found = Services(services.project).start()
    assert found
    assert client.address == services.address
    assert len(services.running()) == 3


def test_a_materialization_says_what_the_ui_shows(client: Client):
    watch = Watch(client)
    run = watch.add(client.materialize(["good"]))
    events = []
    while not run.ended:
        events += [event for _, event in watch.poll()]
        time.sleep(0.3)
    assert run.status == "SUCCESS"
    (made,) = [event for event in events if event.kind == "MaterializationEvent"]
    assert made.asset == "good"
    assert made.metadata == {"rows": 3, "loss": 0.5}
    assert [event.passed for event in events if event.kind == "AssetCheckEvaluationEvent"] == [True]
    assert any(event.message == "three rows" for event in events)
    assert client.materializations("good")[0]["metadata"]["rows"] == 3


def test_a_failed_run_gives_its_error_without_dagsters_frames(client: Client):
    watch = Watch(client)
    run = watch.add(client.materialize(["bad"]))
    while not run.ended:
        list(watch.poll())
        time.sleep(0.3)
    assert run.status == "FAILURE"
    assert run.error == "ValueError: the source has no rows"


def test_a_wrong_config_is_refused_with_dagsters_words(client: Client):
    with pytest.raises(FactoryError) as caught:
        client.launch_job("forever", {"ops": {"stray": {"config": {"fiel": "x"}}}})
    assert "fiel" in str(caught.value)


def test_an_unknown_asset_is_named(client: Client):
    with pytest.raises(FactoryError) as caught:
        client.materialize(["nothing"])
    assert "nothing" in str(caught.value)


def test_a_sensor_is_turned_on_and_off(client: Client):
    client.switch("watcher", True)
    assert client.sensors()["watcher"]["status"] == "RUNNING"
    client.switch("watcher", False)
    assert client.sensors()["watcher"]["status"] == "STOPPED"


def test_a_reload_brings_in_an_edit_and_says_what_is_wrong_with_one(project: Project, client: Client):
    file = project.root / "definitions" / "__init__.py"
    before = file.read_text()
    file.write_text(before + "\nraise RuntimeError('half an edit')\n")
    with pytest.raises(FactoryError) as caught:
        client.reload()
    assert "half an edit" in str(caught.value)
    file.write_text(before.replace("three rows", "four rows"))
    client.reload()
    assert client.load_error() is None


def test_the_logs_stay_where_people_are_told_to_look(services: Services):
    """Dagster's telemetry thread takes away whatever stands under $DAGSTER_HOME/logs, even where it is switched off."""
    folder = logs(services.project)
    assert not folder.is_relative_to(services.home)
    assert {path.name for path in folder.iterdir()} >= {"code-server.log", "web-server.log"}
    for service in services.running():
        environment = Path(f"/proc/{service.process.pid}/environ").read_bytes().split(b"\0")
        assert b"DAGSTER_DISABLE_TELEMETRY=1" in environment


def test_a_service_that_died_is_started_again_at_the_same_address(services: Services):
    address = services.address
    (web,) = [service for service in services.running() if service.name == "web server"]
    os.kill(web.process.pid, signal.SIGKILL)
    wait("its end", 10, lambda: not web.alive())
    assert services.address is None
    client, found = services.start()
    assert not found
    assert client.address == address


def test_down_ends_runs_and_every_process_that_they_left(services: Services, client: Client, tmp_path: Path):
    file = tmp_path / "pid"
    client.launch_job("forever", {"ops": {"stray": {"config": {"file": str(file)}}}})
    wait("its start", 60, lambda: file.exists() and file.read_text() != "")
    stray = psutil.Process(int(file.read_text()))
    assert len(client.runs(statuses=ACTIVE)) == 1
    began = time.monotonic()
    services.stop()
    assert time.monotonic() - began < 60
    assert not stray.is_running() or stray.status() == psutil.STATUS_ZOMBIE
    assert processes.marked(str(services.home)) == []
    assert services.running() == []
    assert services.address is None


def test_down_twice_is_down(services: Services):
    services.stop()
    services.stop()
    with pytest.raises(FactoryError) as caught:
        services.client()
    assert caught.value.fix == "make ui"


def test_a_port_that_somebody_has_is_passed_over_unless_a_person_insists(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    services = Services(toy.project(tmp_path))
    with socket.socket() as server:
        server.bind((ports.HOST, 0))
        server.listen()
        port = server.getsockname()[1]
        monkeypatch.setenv(UI_PORT_VARIABLE, str(port))
        with pytest.raises(FactoryError) as caught:
            services.start()
    assert caught.value.code == "port"
    assert str(port) in caught.value.what
    assert services.running() == []


@pytest.mark.parametrize("value", ["ui", "0", "70000"])
def test_a_port_that_is_none_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: str):
    monkeypatch.setenv(UI_PORT_VARIABLE, value)
    with pytest.raises(FactoryError) as caught:
        Services(toy.project(tmp_path)).start()
    assert caught.value.found == value


def test_the_services_of_one_location_do_not_serve_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    services = Services(toy.project(tmp_path))
    own = processes.process_of(os.getpid())
    assert own is not None
    web = Service(name="web server", process=own, log=tmp_path / "log")
    state = State(ports={"ui": 1, "code": 2}, location="aifactory-public", services=(web,))
    services.file.write_text(state.model_dump_json())
    assert services.client().location == "aifactory-public"
    with pytest.raises(FactoryError) as caught:
        services.start()
    assert (caught.value.found, caught.value.expected) == ("aifactory-public", "aifactory")
    monkeypatch.setenv(VARIABLE, "private/ward")
    with pytest.raises(FactoryError) as caught:
        services.start()
    assert caught.value.expected == "aifactory-private-ward"
