"""Launches on a real API server with the real operator: submit, watch, channel, end."""

from __future__ import annotations

import time

import pytest

from aifactory.channel import Note
from aifactory.launch import runs
from aifactory.launch.kuberay.pods import USER
from aifactory.launch.runs.phases import Phases
from tests.kube.driver import Drivers
from tests.launch.kuberay.flight import Flight, until

pytestmark = pytest.mark.cluster

LIVES = {"seconds": 60.0}


def test_a_run_is_launched_followed_to_its_end_and_leaves_nothing(flight: Flight) -> None:
    plan = flight.plan("say", text="hello")
    result = flight.launch(plan)
    assert (result.outcome, result.attempt, result.launched) == ("succeeded", 1, True)
    # The kubelet would have made it, as root.
    assert (flight.lab.ns.root / plan.spec.build.key).stat().st_uid == USER
    assert [message.payload.type for message in result.messages] == ["started", "note", "closed"]
    assert flight.said("starting")
    assert [row.phase for row in Phases(flight.directory / "attempts/00000001").all()][-1] == "running"
    flight.until_gone()
    (summary,) = runs(flight.lab.ns)
    assert summary.state == "succeeded"
    # Again: it is replayed, and nothing is made.
    again = flight.launch(flight.plan("say", text="hello"))
    assert (again.outcome, again.launched) == ("succeeded", False)
    assert flight.left() == []


def test_a_failure_of_the_code_has_its_trace_and_is_not_tried_again(flight: Flight) -> None:
    result = flight.launch(flight.plan("fail", text="4711 is not a number"))
    assert (result.outcome, result.attempt) == ("failed_code", 1)
    assert result.error is not None
    assert "4711" in result.error.text
    flight.until_gone()


def test_a_launcher_that_is_killed_is_followed_by_one_that_adopts(flight: Flight, driven: Drivers) -> None:
    go = flight.lab.ns.root.parent / "go"
    plan = flight.plan("wait", file=str(go))
    first = flight.process(plan)
    until(lambda: list(flight.directory.glob("attempts/00000001/messages/00000002.json")))
    first.kill()
    first.wait()
    began = time.monotonic()
    with flight.launching(plan) as second:
        until(lambda: flight.said("adopted"))
        assert time.monotonic() - began < 30
        go.touch()
        result = second.result
    assert (result.outcome, result.attempt, result.launched) == ("succeeded", 1, False)
    assert [m.payload.text for m in result.messages if isinstance(m.payload, Note)] == ["waiting", "done"]
    assert len(driven.started) == 1
    flight.until_gone()
