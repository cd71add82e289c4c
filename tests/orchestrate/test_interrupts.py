from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import dagster as dg
import pytest

from aifactory.orchestrate.interrupts import Interrupts


@dg.op
def nothing() -> None: ...


@dg.job
def some_job() -> None:
    nothing()


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.ephemeral() as instance:
        yield instance


def started(instance: dg.DagsterInstance, status: dg.DagsterRunStatus) -> str:
    return instance.create_run_for_job(some_job, status=status).run_id


def test_a_run_that_goes_on_is_left_alone(instance: dg.DagsterInstance) -> None:
    with Interrupts(instance, started(instance, dg.DagsterRunStatus.STARTED)) as interrupts:
        assert interrupts.signal() == "run"
        assert not interrupts.interrupted


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_to_a_started_run_detaches(instance: dg.DagsterInstance, number: int) -> None:
    with Interrupts(instance, started(instance, dg.DagsterRunStatus.STARTED)) as interrupts:
        interrupts.signal()
        os.kill(os.getpid(), number)
        assert interrupts.signal() == "detach"
        assert interrupts.interrupted


@pytest.mark.parametrize(
    "status", [dg.DagsterRunStatus.CANCELING, dg.DagsterRunStatus.CANCELED, dg.DagsterRunStatus.FAILURE]
)
def test_a_run_that_is_canceled_or_over_stops_without_any_signal(
    instance: dg.DagsterInstance, status: dg.DagsterRunStatus
) -> None:
    with Interrupts(instance, started(instance, status)) as interrupts:
        assert interrupts.signal() == "stop"


def test_the_decision_stands(instance: dg.DagsterInstance) -> None:
    run = started(instance, dg.DagsterRunStatus.CANCELING)
    with Interrupts(instance, run) as interrupts:
        assert interrupts.signal() == "stop"
        instance.delete_run(run)
        assert interrupts.signal() == "stop"


def test_handlers_are_put_back(instance: dg.DagsterInstance) -> None:
    before = signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)
    with Interrupts(instance, started(instance, dg.DagsterRunStatus.STARTED)):
        pass
    assert (signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)) == before


def test_the_database_is_asked_once_a_second(instance: dg.DagsterInstance) -> None:
    now = [0.0]
    run = started(instance, dg.DagsterRunStatus.STARTED)
    with Interrupts(instance, run, clock=lambda: now[0]) as interrupts:
        assert interrupts.signal() == "run"
        instance.delete_run(run)
        instance.create_run_for_job(some_job, run_id=run, status=dg.DagsterRunStatus.CANCELING)
        assert interrupts.signal() == "run"
        now[0] = 1.0
        assert interrupts.signal() == "stop"
