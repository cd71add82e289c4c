"""Wrong words, empty answers, and what a person reads to go on."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.inside import RUN, Inside, start
from tests.launch.saved import LINE


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Inside:
    return start(tmp_path, monkeypatch)


def test_a_plan_for_a_cluster_that_is_not_there_shows_the_refusal_and_exits_3(lab: Inside) -> None:
    answer = lab("plan", "tiny", "--cluster", "nope")
    assert answer.code == 3
    assert "gate would refuse it" in answer.out
    assert "'nope'" in answer.out
    assert "launch it" not in answer.out
    assert lab("plan", "tiny", "--cluster", "nope", "--json").json["gate"]["refusals"][0]["code"] == "unknown_cluster"


def test_the_last_line_of_a_plan_launches_exactly_that_plan(lab: Inside) -> None:
    lab.lab.write(
        "clusters.toml",
        '[local]\nbackend = "local"\n\n[desk]\nbackend = "local"\nqueues = ["slow"]\npriorities = ["low"]\n',
    )
    answer = lab("plan", "tiny", "--cluster", "desk", "--queue", "slow", "--priority", "low")
    assert answer.code == 0, answer.out
    words = answer.out.splitlines()[-1].removeprefix("launch it: aifactory launch ").split()
    assert words[1:] == ["--cluster", "desk", "--queue", "slow", "--priority", "low"]
    again = lab("plan", *words, "--json")
    assert again.json["hash"] == words[0]
    assert again.json["context"]["queue"] == "slow"


def test_a_target_may_be_the_first_digits_of_a_hash(lab: Inside) -> None:
    frozen = lab("plan", "tiny", "--json").json["hash"]
    assert lab("plan", frozen[:8], "--json").json["hash"] == frozen
    wrong = lab("plan", "0" * 8, "--json")
    assert (wrong.code, wrong.json["error"]["code"]) == (2, "unknown_spec")


@pytest.mark.parametrize(("option", "known"), [("--kind", "evaluate"), ("--state", "succeeded")])
def test_a_kind_or_state_that_is_none_is_wrong_usage(lab: Inside, option: str, known: str) -> None:
    answer = lab("runs", option, "nonsense")
    assert answer.code == 2
    assert "nonsense" in answer.err
    assert known in answer.err


def test_no_runs_are_told_in_words(lab: Inside) -> None:
    assert "nothing has run yet" in lab("runs").out
    lab.train()
    assert "no run is like that" in lab("runs", "--kind", "evaluate").out
    assert lab("runs", "--kind", "evaluate", "--json").json == []


def test_an_evaluation_says_which_training_and_step_it_is_of(lab: Inside) -> None:
    lab.train()
    assert lab("promote", f"{RUN}/3").code == 0
    lab.evaluated(f"{RUN}/3", "evaluate-tiny-3-000000000001")
    lab.evaluated(LINE, "evaluate-tiny-3-000000000002")
    shown = lab("runs", "--kind", "evaluate").out
    assert f"{RUN}/3" in shown
    assert f"{LINE}@{lab.ns.resolve(LINE).version[:16]}" in shown
    assert f"of         {RUN}/3" in lab("runs", "evaluate-tiny-3-000000000001").out
