"""What a person sees of a run on a real API server: why it waits and since when, and what a failed one leaves."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from aifactory.cli.app import app
from aifactory.launch import Attempts
from aifactory.launch.runs.incident import Incident
from aifactory.launch.runs.state import State
from aifactory.orchestrate.pipes import ended_badly
from tests.kube import played
from tests.kube.driver import Drivers
from tests.launch.kuberay.flight import Flight, until

pytestmark = pytest.mark.cluster

Flights = Callable[..., Flight]


def attempt(flight: Flight, number: int = 1) -> Path:
    return flight.directory / "attempts" / f"{number:08d}"


def shown(flight: Flight, monkeypatch: pytest.MonkeyPatch) -> str:
    """`aifactory runs <run>`."""
    for name, value in flight.lab.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(flight.lab.project.root)
    return re.sub(r"\s+", " ", CliRunner().invoke(app, ["runs", flight.run], env={"COLUMNS": "300"}).output)


def test_a_waiting_run_says_why_and_since_when(
    flights: Flights, driven: Drivers, monkeypatch: pytest.MonkeyPatch
) -> None:
    flight = flights()
    flight.space.queue(cpu="100m")
    flight = flights(flight.run)
    said: list[str] = []

    def enough() -> bool:
        state = State.load(attempt(flight))
        if state is not None and state.code == "kueue_never_fits":
            said.append(shown(flight, monkeypatch))
        return bool(said)

    assert flight.launch(flight.plan("wait"), stop=enough).outcome == "cancelled"
    line = next(one for one in flight.lines if "can never be admitted" in one)
    assert re.search(r"attempt 1 queued since \d\d:\d\d UTC \(\d+ s\): queue training: .*whole quota is 100m cpu", line)
    assert "can never be admitted" in said[0]
    assert len([one for one in flight.lines if "can never be admitted" in one]) == 1, "one row for one state"


def test_an_image_that_is_missing_ends_it_with_evidence_and_no_second_try(
    flights: Flights, driven: Drivers, monkeypatch: pytest.MonkeyPatch
) -> None:
    flight = flights(usual={"build": "held"}, patience_seconds=3)
    with flight.launching(flight.plan("say")) as launched:
        until(lambda: flight.said("starting"))
        pods = until(lambda: played.pods_of(flight.space, f"{flight.run}-1", "worker"))
        name = pods[0]["metadata"]["name"]
        until(lambda: flight.space.get("pod", name)["spec"].get("nodeName"))
        message = 'rpc error: code = NotFound desc = failed to resolve reference "train": train: not found'
        played.wait_in(flight.space, name, "worker", reason="ErrImagePull", message=message)
        result = launched.result
    assert (result.outcome, result.attempt) == ("failed_infrastructure", 1)
    assert result.error is not None
    assert result.error.code == "image_missing"
    assert [one.outcome for one in Attempts(flight.directory).all()] == ["failed_infrastructure"]
    incident = Incident.load(attempt(flight))
    assert incident is not None
    assert (incident.code, incident.outcome) == ("image_missing", "failed_infrastructure")
    assert name in {one.pod for one in incident.containers}
    metadata = ended_badly(result, "the build").metadata
    assert "not found" in str(metadata["evidence"].value)
    assert metadata["fix"].value.startswith("push it")
    assert "fix: push it" in shown(flight, monkeypatch)
    flight.until_gone()
