"""Launching real processes of a real image."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

from aifactory.channel import Note
from aifactory.errors import FactoryError
from aifactory.launch import GateRefused, launch, resume, run_name, runs
from tests.launch.lab import Lab


def texts(messages: Any) -> list[str]:
    return [message.payload.text for message in messages if isinstance(message.payload, Note)]


def test_a_run_tells_its_messages_and_its_log_and_leaves_records(lab: Lab) -> None:
    heard, log, changes = [], [], []
    result = launch(
        lab.plan("say", text="grüß Gott"),
        run="build-say-1",
        on_message=heard.append,
        on_log=log.append,
        on_change=changes.append,
        project=lab.project,
        ns=lab.ns,
    )
    assert result.outcome == "succeeded"
    assert result.launched
    assert [message.payload.type for message in heard] == ["started", "note", "closed"]
    assert tuple(heard) == result.messages
    assert texts(heard) == ["grüß Gott"]
    assert "a line of the log" in "".join(log)
    assert any("ended as succeeded" in change for change in changes)
    assert (result.directory / "attempts/00000001/logs/driver.log").read_text() == "a line of the log\n"
    assert {path.name for path in result.directory.iterdir()} == {
        "spec.json",
        "context.json",
        "gate.json",
        "attempts",
    }
    (summary,) = runs(lab.ns)
    assert (summary.run, summary.state, summary.attempts, summary.kind) == ("build-say-1", "succeeded", 1, "build")
    assert summary.ended is not None


def test_a_succeeded_run_is_replayed_and_launches_nothing(lab: Lab) -> None:
    plan = lab.plan("say")
    first = launch(plan, run="build-say-1", project=lab.project, ns=lab.ns)
    heard: list[Any] = []
    again = launch(plan, run="build-say-1", on_message=heard.append, project=lab.project, ns=lab.ns)
    assert again.outcome == "succeeded"
    assert not again.launched
    assert again.attempt == 1
    assert again.messages == first.messages == tuple(heard)


def test_a_failure_of_the_code_is_reported_with_its_trace_and_not_tried_again(lab: Lab) -> None:
    plan = lab.plan("fail")
    for _ in range(2):
        result = launch(plan, run="build-fail-1", project=lab.project, ns=lab.ns)
        assert result.outcome == "failed_code"
        assert result.attempt == 1
        assert result.error is not None
        assert result.error.type == "ValueError"
        assert "4711" in result.error.text
        assert "raise ValueError(text)" in result.error.trace


def test_a_failed_attempt_is_followed_by_another_where_two_tries_are_asked_for(lab: Lab) -> None:
    heard: list[Any] = []
    result = launch(
        lab.plan("fail", below=2), run="build-fail-1", tries=2, on_message=heard.append, project=lab.project, ns=lab.ns
    )
    assert (result.outcome, result.attempt) == ("succeeded", 2)
    assert texts(result.messages) == ["this time it worked"]
    assert [message.attempt for message in heard] == [1, 1, 2, 2, 2]


def test_two_tries_are_two_attempts_and_no_more(lab: Lab) -> None:
    result = launch(lab.plan("fail"), run="build-fail-1", tries=2, project=lab.project, ns=lab.ns)
    assert (result.outcome, result.attempt) == ("failed_code", 2)


def test_a_private_run_shows_no_log_and_no_text_of_foreign_exceptions(lab: Lab) -> None:
    log: list[str] = []
    result = launch(
        lab.plan("fail", key="private/oncology/out"),
        run="build-fail-1",
        on_log=log.append,
        project=lab.project,
        ns=lab.ns,
    )
    assert result.directory == lab.ns.root / "private/oncology/runs/build-fail-1"
    assert result.error is not None
    assert result.error.type == "ValueError"
    assert result.error.text.startswith("at assets/probe.py:")
    assert "4711" not in str(result.error)
    assert "4711" not in str(result.messages)
    assert log == []
    assert "4711" in (result.directory / "attempts/00000001/logs/driver.log").read_text()


def test_a_run_that_is_too_slow_ends_at_its_deadline(lab: Lab) -> None:
    plan = lab.plan("wait", seconds=60.0, context={"deadline_seconds": 2.0})
    result = launch(plan, run="build-wait-1", project=lab.project, ns=lab.ns)
    assert result.outcome == "deadline"
    assert result.error is not None
    assert "2 s" in result.error.text
    again = launch(plan, run="build-wait-1", project=lab.project, ns=lab.ns)
    assert (again.outcome, again.attempt) == ("deadline", 1)


def test_a_run_that_says_nothing_ends_at_its_stall_budget(lab: Lab) -> None:
    plan = lab.plan("silent", context={"stall_seconds": 1.5})
    result = launch(plan, run="build-silent-1", project=lab.project, ns=lab.ns)
    assert result.outcome == "deadline"
    assert result.error is not None
    assert "no message" in result.error.text


def test_a_launch_that_names_no_stall_budget_has_that_of_its_cluster(own_lab: Lab) -> None:
    own_lab.write("clusters.toml", '[local]\nbackend = "local"\nstall_seconds = 1.5\n')
    result = launch(own_lab.plan("silent"), run="build-silent-1", project=own_lab.project, ns=own_lab.ns)
    assert result.outcome == "deadline"
    assert result.error is not None
    assert "1.5 s" in result.error.text


def test_a_run_that_is_killed_under_its_launcher_is_lost_to_a_signal_that_is_named(lab: Lab) -> None:
    result = launch(lab.plan("vanish"), run="build-vanish-1", project=lab.project, ns=lab.ns)
    assert result.outcome == "lost"
    assert result.error is not None
    assert "was ended by signal 9" in result.error.text


def test_the_plan_of_a_run_is_found_again_and_never_resolved_twice(lab: Lab) -> None:
    plan = lab.plan("say", context={"requester": "person:ada"})
    assert resume("build-say-1", ns=lab.ns) is None
    launch(plan, run="build-say-1", project=lab.project, ns=lab.ns)
    again = resume("build-say-1", ns=lab.ns)
    assert again is not None
    assert (again.hash, again.context, again.path) == (plan.hash, plan.context, plan.path)


def test_a_directory_of_another_spec_is_refused_and_left_alone(lab: Lab) -> None:
    launch(lab.plan("say"), run="build-say-1", project=lab.project, ns=lab.ns)
    before = {path: path.read_bytes() for path in lab.ns.root.rglob("build-say-1/*.json")}
    with pytest.raises(GateRefused) as caught:
        launch(lab.plan("say", text="other"), run="build-say-1", project=lab.project, ns=lab.ns)
    assert [refusal.code for refusal in caught.value.refusals] == ["run_owned"]
    assert before == {path: path.read_bytes() for path in lab.ns.root.rglob("build-say-1/*.json")}


def test_a_refusal_is_kept_and_stands_for_the_run(lab: Lab) -> None:
    plan = lab.plan("say", context={"cluster": "loca", "queue": "gpu"})
    for _ in range(2):
        with pytest.raises(GateRefused, match="unknown_cluster"):
            launch(plan, run="build-say-1", project=lab.project, ns=lab.ns)
    record = json.loads((lab.ns.root / "public/runs/build-say-1/gate.json").read_bytes())
    assert record["outcome"] == "refused"
    assert record["refusals"][0]["expected"] == "local"
    assert [run.state for run in runs(lab.ns)] == ["refused"]


def test_a_private_run_that_is_lost_shows_no_line_of_its_log(lab: Lab) -> None:
    plan = lab.plan("vanish", key="private/oncology/out")
    log: list[str] = []
    result = launch(plan, run="build-vanish-1", on_log=log.append, project=lab.project, ns=lab.ns)
    assert result.outcome == "lost"
    assert result.error is not None
    assert (result.error.trace, log) == ("", [])


def test_a_listing_shows_a_damaged_run_among_the_others(lab: Lab) -> None:
    launch(lab.plan("say"), run="build-say-1", project=lab.project, ns=lab.ns)
    launch(lab.plan("say"), run="build-say-2", project=lab.project, ns=lab.ns)
    spec = lab.ns.root / "public/runs/build-say-1/spec.json"
    spec.chmod(0o644)
    spec.write_bytes(b"{")
    assert {run.run: run.state for run in runs(lab.ns)} == {"build-say-1": "damaged", "build-say-2": "succeeded"}


def test_a_cancel_while_the_image_is_made_launches_nothing(lab: Lab) -> None:
    result = launch(lab.plan("say"), run="build-say-1", stop=lambda: True, project=lab.project, ns=lab.ns)
    assert result.outcome == "cancelled"
    assert [m for m in result.messages if m.method == "log"] == []


def test_a_namespace_that_cannot_be_written_is_an_error_and_leaves_nothing(
    own_lab: Lab, read_only: Callable[[Path], AbstractContextManager[None]]
) -> None:
    plan = own_lab.plan("say")
    with read_only(own_lab.ns.root), pytest.raises(FactoryError) as caught:
        launch(plan, run="build-say-1", project=own_lab.project, ns=own_lab.ns)
    assert caught.value.code == "read_only"
    assert not (own_lab.ns.root / "public/runs").exists()


@pytest.mark.parametrize("where", ["frozen", "run"])
def test_an_edited_spec_is_refused(lab: Lab, where: str) -> None:
    plan = lab.plan("fail", below=2)
    launch(plan, run="build-fail-1", project=lab.project, ns=lab.ns)
    path = plan.path if where == "frozen" else lab.ns.root / "public/runs/build-fail-1/spec.json"
    path.chmod(0o644)
    path.write_text(path.read_text().replace('"below": 2', '"below": 1'))
    with pytest.raises(FactoryError) as caught:
        launch(plan, run="build-fail-1", tries=2, project=lab.project, ns=lab.ns)
    assert caught.value.code == "edited"


@pytest.mark.parametrize(
    ("kind", "label"), [("evaluate", "a-very-long-recipe_name-indeed"), ("build", "Ünï/x"), ("train", "")]
)
def test_a_run_name_is_a_short_dns_label_and_the_same_for_one_origin(kind: str, label: str) -> None:
    name = run_name(kind, label, "dagster-run/step")
    assert name == run_name(kind, label, "dagster-run/step")
    assert name != run_name(kind, label, "dagster-run/other")
    assert name != run_name(kind, label)
    assert len(name) <= 40
    assert all(part.isalnum() for part in name.split("-"))
