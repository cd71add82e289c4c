from __future__ import annotations

from collections.abc import Iterator

import dagster as dg
import pytest

from aifactory.orchestrate.origin import by_person, origin_of, requester


@dg.op
def nothing() -> None: ...


@dg.job
def some_job() -> None:
    nothing()


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.ephemeral() as instance:
        yield instance


def run(instance: dg.DagsterInstance, **tags: str) -> dg.DagsterRun:
    return instance.create_run_for_job(some_job, tags={name.replace("__", "/"): value for name, value in tags.items()})


def test_a_step_of_a_run_has_one_origin_however_often_it_starts(instance: dg.DagsterInstance) -> None:
    first = run(instance)
    assert origin_of(instance, first, "step") == origin_of(instance, first, "step")
    assert origin_of(instance, first, "step") != origin_of(instance, first, "other")


def test_dagsters_retries_share_the_origin_of_the_first_run(instance: dg.DagsterInstance) -> None:
    first = run(instance)
    second = run(instance, dagster__parent_run_id=first.run_id, dagster__retry_number="1")
    third = run(instance, dagster__parent_run_id=second.run_id, dagster__retry_number="2")
    assert origin_of(instance, third, "step") == origin_of(instance, first, "step")


def test_a_persons_reexecution_is_another_run_that_knows_its_parent(instance: dg.DagsterInstance) -> None:
    first = run(instance)
    retry = run(instance, dagster__parent_run_id=first.run_id, dagster__retry_number="1")
    again = run(instance, dagster__parent_run_id=retry.run_id)
    origin = origin_of(instance, again, "step")
    assert origin.text == f"{again.run_id}/step"
    assert origin.parent == f"{first.run_id}/step"


def test_a_retry_whose_parent_was_deleted_stands_for_itself(instance: dg.DagsterInstance) -> None:
    orphan = run(instance, dagster__parent_run_id="gone", dagster__retry_number="1")
    assert origin_of(instance, orphan, "step").text == f"{orphan.run_id}/step"


def test_who_asked_is_told_from_the_tags(instance: dg.DagsterInstance) -> None:
    assert by_person(run(instance))
    for tags in ({"factory__requester": "automation"}, {"dagster__sensor_name": "s"}, {"dagster__schedule_name": "s"}):
        assert not by_person(run(instance, **tags))
    assert requester(run(instance, factory__requester="automation")) == "automation"
