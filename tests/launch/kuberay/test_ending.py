"""Ends that nobody wished for: cancelled, preempted, lost, never begun; each leaves nothing on the cluster."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from aifactory.channel import Note, Reader
from aifactory.errors import FactoryError
from aifactory.launch import Attempts, runs, stop
from aifactory.launch.kuberay import Asked, Names, build_rayjob
from tests.kube import played, table
from tests.kube.driver import Drivers
from tests.launch.kuberay.flight import Flight, until

pytestmark = pytest.mark.cluster

Flights = Callable[..., Flight]


def outcomes(flight: Flight) -> list[str | None]:
    return [attempt.outcome for attempt in Attempts(flight.directory).all()]


def state(flight: Flight) -> str:
    return next(one.state for one in runs(flight.lab.ns) if one.run == flight.run)


def stopped_when(flight: Flight, ready: Callable[[], bool], **how: object) -> list[float]:
    """Launch, cancel as soon as `ready`, and see that nothing is left: seconds until the launch returned."""
    began: list[float] = []

    def told() -> bool:
        if not began and ready():
            began.append(time.monotonic())
        return bool(began)

    result = flight.launch(flight.plan("wait", **how), stop=told)
    took = time.monotonic() - began[0]
    assert result.outcome == "cancelled"
    assert took < 60
    assert flight.left() == []
    assert state(flight) == "cancelled"
    return [took]


def test_a_run_is_cancelled_while_it_waits_in_its_queue(flights: Flights, driven: Drivers) -> None:
    flight = flights()
    flight.space.queue(cpu="100m")
    flight = flights(flight.run)
    stopped_when(flight, lambda: state(flight) == "queued" and flight.said("queued"))
    assert driven.started == []


def test_a_run_is_cancelled_while_it_comes_up(flights: Flights, driven: Drivers) -> None:
    flight = flights(usual={"build": "held"})
    stopped_when(flight, lambda: state(flight) == "starting")
    assert driven.started == []


def test_a_run_is_cancelled_while_it_runs_and_says_its_last_words(flight: Flight) -> None:
    stopped_when(flight, lambda: len(list(flight.directory.glob("attempts/00000001/messages/*.json"))) == 2)
    reader = Reader(flight.directory / "attempts/00000001")
    reader.new()
    assert reader.closed is not None
    assert reader.closed.outcome == "cancelled"


def test_a_run_that_nobody_watches_is_stopped_on_its_cluster(flight: Flight) -> None:
    plan = flight.plan("wait")
    left = flight.launch(plan, stop=lambda: "detach" if flight.said("running") else "run")
    assert left.outcome == "detached"
    assert flight.left()
    assert stop(flight.lab.ns, flight.run, project=flight.lab.project) == "cancelled"
    assert flight.left() == []


def test_a_rayjob_that_is_deleted_by_hand_is_lost_and_followed_by_a_new_attempt(flight: Flight) -> None:
    go = flight.lab.ns.root.parent / "go"
    with flight.launching(flight.plan("wait", file=str(go))) as launched:
        until(lambda: flight.said("running"))
        flight.space.kubectl("delete", "rayjob", f"{flight.run}-1", "--wait=false")
        until(lambda: len(outcomes(flight)) == 2)
        go.touch()
        assert launched.result.outcome == "succeeded"
    assert outcomes(flight)[1] == "succeeded"
    assert outcomes(flight)[0] == "lost"
    flight.until_gone()


def test_a_higher_priority_preempts_a_run_which_goes_on_as_a_new_attempt(flights: Flights) -> None:
    low = flights("build-probe-low")
    low.space.queue(cpu=1)
    low, high = flights("build-probe-low"), flights("build-probe-high")
    go = low.lab.ns.root.parent / "go"
    with low.launching(low.plan("wait", {"priority": "low"}, file=str(go))) as launched:
        until(lambda: low.said("running"))
        with high.launching(high.plan("wait", {"priority": "high"}, seconds=4.0)) as other:
            until(lambda: len(outcomes(low)) == 2)
            until(lambda: state(low) == "queued")
            assert other.result.outcome == "succeeded"
        go.touch()
        assert (launched.result.outcome, launched.result.attempt) == ("succeeded", 2)
    assert outcomes(low) == ["preempted", "succeeded"]
    low.until_gone()


def test_a_rayjob_of_another_spec_under_the_name_is_refused_and_left_alone(flight: Flight) -> None:
    other = flight.plan("say", text="another")
    names = Names(flight.run, 1)
    flight.space.kube.create(build_rayjob(other, flight.cluster, Asked(run=flight.run, attempt=1, image=table.IMAGE)))
    with pytest.raises(FactoryError) as caught:
        flight.launch(flight.plan("say"))
    assert caught.value.code == "job_owned"
    assert other.hash in caught.value.found
    assert flight.space.get("rayjob", names.job)["metadata"]["annotations"]["aifactory/spec-hash"] == other.hash
    assert outcomes(flight) == ["refused"]


def test_an_image_that_is_not_there_ends_the_attempt_at_its_start_budget(flights: Flights) -> None:
    flight = flights(usual={"build": "held"}, start_seconds=6)
    with flight.launching(flight.plan("say")) as launched:
        until(lambda: flight.said("starting"))
        pods = until(lambda: played.pods_of(flight.space, f"{flight.run}-1", "worker"))
        until(lambda: all(pod["spec"].get("nodeName") for pod in played.pods_of(flight.space, f"{flight.run}-1")))
        played.wait_in(
            flight.space, pods[0]["metadata"]["name"], "worker", reason="ImagePullBackOff", message="manifest unknown"
        )
        result = launched.result
    assert result.outcome in ("deadline", "failed_infrastructure")
    assert flight.left() == []


def test_an_operator_and_a_server_that_are_away_for_a_while_change_nothing(flight: Flight) -> None:
    kube = flight.space.kube
    go = flight.lab.ns.root.parent / "go"
    try:
        kube.component("kuberay-operator", "kill")
        with flight.launching(flight.plan("wait", file=str(go))) as launched:
            until(lambda: flight.said("is made"))
            time.sleep(2)
            kube.component("kuberay-operator", "start")
            until(lambda: flight.said("running"))
            kube.component("kube-apiserver", "stop")
            time.sleep(10)
            assert launched.alive
            go.touch()
            kube.component("kube-apiserver", "start")
            result = launched.result
    except BaseException:
        kube.up_again()
        raise
    assert (result.outcome, result.attempt) == ("succeeded", 1)
    assert [m.payload.text for m in result.messages if isinstance(m.payload, Note)] == ["waiting", "done"]
    flight.until_gone()


def test_a_cancel_while_the_operator_is_down_leaves_nothing(flight: Flight) -> None:
    kube = flight.space.kube
    try:
        plan = flight.plan("wait")

        def told() -> bool:
            if flight.said("running"):
                kube.component("kuberay-operator", "stop")
            return flight.said("running")

        assert flight.launch(plan, stop=told).outcome == "cancelled"
        assert flight.said("removed without it")
        assert flight.left() == []
    finally:
        kube.component("kuberay-operator", "start")


def test_two_workers_that_adopt_one_run_see_the_same_end(flights: Flights) -> None:
    one = flights("build-probe-1")
    go = one.lab.ns.root.parent / "go"
    plan = one.plan("wait", file=str(go))
    with one.launching(plan) as first, one.launching(plan) as second:
        until(lambda: one.said("running"))
        go.touch()
        results = [first.result, second.result]
    assert [(result.outcome, result.attempt) for result in results] == [("succeeded", 1)] * 2
    assert sorted(result.launched for result in results) == [False, True]
    assert outcomes(one) == ["succeeded"]
