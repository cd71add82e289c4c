"""The reaper on a real API server: what a crash leaves, and what nobody wants, goes; what somebody may want stays."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from aifactory.launch import Attempts, reaper
from aifactory.launch.reaper import reap
from aifactory.launch.scope import Scope
from tests.launch.kuberay.flight import Flight

pytestmark = pytest.mark.cluster


def reaped(flight: Flight, unwanted: float | None = None) -> list[str]:
    lab = flight.lab
    return reap(lab.ns, lambda context: unwanted, project=lab.project, scope=Scope())


def later(monkeypatch: pytest.MonkeyPatch, **ahead: float) -> None:
    """Let time have passed since everything that is there was made."""
    now = datetime.now(UTC) + timedelta(**ahead)
    monkeypatch.setattr(reaper, "_age", lambda at: (now - datetime.fromisoformat(at)).total_seconds())


def test_a_run_that_nobody_wants_is_stopped_and_one_that_somebody_may_want_is_not(
    flight: Flight, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = flight.launch(flight.plan("wait"), stop=lambda: "detach" if flight.said("running") else "run")
    assert left.outcome == "detached"
    later(monkeypatch, days=2)
    assert reaped(flight) == []
    assert any("is going to be ended" in line for line in reaped(flight, unwanted=5.0))
    assert flight.left()
    assert any("stop" in line for line in reaped(flight, unwanted=3600.0))
    assert [one.outcome for one in Attempts(flight.directory).all()] == ["cancelled"]
    assert flight.left() == []


def test_a_run_whose_rayjob_vanished_is_lost_and_what_a_crash_left_is_swept(
    flight: Flight, monkeypatch: pytest.MonkeyPatch
) -> None:
    flight.launch(flight.plan("wait"), stop=lambda: "detach" if flight.said("running") else "run")
    job = f"{flight.run}-1"
    # As a launcher leaves it that dies between the two: nothing owns the Secret.
    flight.space.kubectl("patch", "secret", f"{job}-token", "--type=json", "-p", ORPHAN)
    flight.space.kubectl("delete", "rayjob", job, "--timeout=60s")
    assert reaped(flight) == []
    later(monkeypatch, hours=2)
    lines = reaped(flight)
    assert any("lost" in line for line in lines)
    assert any("sweep" in line for line in lines)
    assert [one.outcome for one in Attempts(flight.directory).all()] in (["lost"], ["preempted"])
    flight.until_gone()
    assert reaped(flight) == []


ORPHAN = '[{"op": "remove", "path": "/metadata/ownerReferences"}]'
