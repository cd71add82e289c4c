"""A waiting run of a real API server, in the browser."""

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import dagster as dg
import pytest
from playwright.sync_api import expect, sync_playwright

from aifactory.laptop.ports import answers, first_free
from aifactory.launch import Plan, stop
from aifactory.orchestrate.pipes import ended_badly, follow
from tests.browser.conftest import Browser, chromium
from tests.kube.driver import Drivers
from tests.launch.kuberay.flight import Flight, until

pytestmark = pytest.mark.cluster

Flights = Callable[..., Flight]


@pytest.fixture
def instance(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[dg.DagsterInstance]:
    monkeypatch.setenv("DAGSTER_HOME", str(tmp_path))
    (tmp_path / "dagster.yaml").write_text("telemetry: {enabled: false}\nnux: {enabled: false}\n")
    with dg.DagsterInstance.get() as found:
        yield found


@pytest.fixture
def browser(tmp_path: Path, instance: dg.DagsterInstance) -> Iterator[Browser]:
    (tmp_path / "empty.py").write_text("import dagster as dg\n\ndefs = dg.Definitions()\n")
    port = first_free(23100 + os.getpid() % 700)
    web = Path(sys.executable).parent / "dagster-webserver"
    command = [str(web), "-h", "127.0.0.1", "-p", str(port), "-f", str(tmp_path / "empty.py")]
    with (
        subprocess.Popen(command, env=os.environ | {"DAGSTER_HOME": str(tmp_path)}) as server,
        sync_playwright() as playwright,
    ):
        try:
            started = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
            page = started.new_page(viewport={"width": 1280, "height": 800})
            page.set_default_timeout(60_000)
            until(lambda: answers(port), 90)
            yield Browser(page, f"http://127.0.0.1:{port}")
            started.close()
        finally:
            server.terminate()


def in_dagster(flight: Flight, plan: Plan, instance: dg.DagsterInstance) -> threading.Thread:
    """The run as a step of a Dagster run, as its jobs launch it."""

    @dg.op(name="train")
    def step(context: dg.OpExecutionContext) -> None:
        result = follow(context, plan, run=flight.run, on_message=lambda message: None)
        if not result.succeeded:
            raise ended_badly(result, f"training {flight.run}")

    @dg.job(name="train")
    def job() -> None:
        step()

    thread = threading.Thread(
        target=lambda: job.execute_in_process(instance=instance, raise_on_error=False), daemon=True
    )
    thread.start()
    return thread


def page_of(instance: dg.DagsterInstance) -> str:
    return f"/runs/{until(lambda: instance.get_runs())[0].run_id}"


def test_a_waiting_runs_page_tells_why_and_since_when(
    flights: Flights,
    driven: Drivers,
    instance: dg.DagsterInstance,
    browser: Browser,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    flight = flights()
    flight.space.queue(cpu="100m")
    flight = flights(flight.run)
    for name, value in flight.lab.environment.items():
        monkeypatch.setenv(name, value)
    thread = in_dagster(flight, flight.plan("wait"), instance)
    try:
        page = browser.open(page_of(instance))
        line = page.get_by_text("can never be admitted").first
        expect(line).to_be_visible(timeout=60_000)
        text = line.inner_text()
        assert "queued since" in text
        assert "whole quota is 100m cpu" in text
        browser.picture("waiting-run")
    finally:
        stop(flight.lab.ns, flight.run, project=flight.lab.project)
        thread.join(60)
