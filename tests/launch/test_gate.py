"""The gate: pure, all reasons at once, each with its code and its fix."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aifactory.launch import CheckFact, Facts, GateRefused, InputFact, gate

DATA = InputFact("mix", "dataset", "public/icd10cm/ready", "1" * 64, "public", published=True)
FACTS = Facts(
    run="train-tiny-1",
    kind="train",
    spec="a" * 64,
    output="public/models/tiny",
    access="public",
    cluster="local",
    clusters=("local",),
    inputs=(DATA, InputFact("tokenizer", "tokenizer", "public/icd10cm/bpe8k", "2" * 64, "public", published=True)),
)
REASONS: dict[str, Facts] = {
    "run_owned": replace(FACTS, owner="b" * 64),
    "image_gone": replace(FACTS, image_available=False, image="c" * 64, rebuild="git worktree add ..."),
    "unknown_cluster": replace(FACTS, cluster="locl"),
    "no_queue": replace(FACTS, queue="team-a"),
    "no_priority": replace(FACTS, priority="high"),
    "class": replace(FACTS, inputs=(replace(DATA, key="private/oncology/ready", access="private/oncology"),)),
    "benchmark": replace(FACTS, inputs=(replace(DATA, benchmark=True),)),
    "input_not_published": replace(FACTS, inputs=(replace(DATA, published=False),)),
    "input_damaged": replace(FACTS, inputs=(replace(DATA, problem="no file"),)),
    "check_red": replace(FACTS, inputs=(replace(DATA, checks=(CheckFact("unique", False, "3 twice"),)),)),
    "check_missing": replace(FACTS, inputs=(replace(DATA, checks=(CheckFact("unique", None),)),)),
}


def test_a_plan_without_a_fault_passes() -> None:
    assert gate(FACTS) == []
    assert gate(replace(FACTS, inputs=(replace(DATA, checks=(CheckFact("unique", True),)),))) == []


@pytest.mark.parametrize("code", REASONS)
def test_each_fault_is_refused_by_its_code_with_both_values_and_a_fix(code: str) -> None:
    (refusal,) = gate(REASONS[code])
    assert refusal.code == code
    assert refusal.what
    assert refusal.found
    assert refusal.fix


def test_an_unknown_cluster_is_answered_with_close_matches() -> None:
    facts = replace(FACTS, cluster="gpu-easy", clusters=("gpu-east", "gpu-west", "local"))
    assert "gpu-east" in gate(facts)[0].expected


def test_a_benchmark_may_be_a_suite_of_an_evaluation_and_the_input_of_a_build() -> None:
    suite = InputFact("suite", "suite", "public/pubmedqa", "3" * 64, "public", published=True, benchmark=True)
    assert gate(replace(FACTS, kind="evaluate", inputs=(suite,))) == []
    assert gate(replace(FACTS, kind="build", inputs=(replace(DATA, benchmark=True),))) == []


@given(
    st.sets(st.sampled_from(["run_owned", "image_gone", "no_queue", "no_priority"])),
    st.sets(
        st.sampled_from(["class", "benchmark", "input_not_published", "input_damaged", "check_red", "check_missing"])
    ),
)
def test_all_reasons_are_given_at_once(run: set[str], inputs: set[str]) -> None:
    facts = replace(FACTS, inputs=tuple(one for code in sorted(inputs) for one in REASONS[code].inputs))
    given_fields = {
        "run_owned": {"owner": "b" * 64},
        "image_gone": {"image_available": False, "image": "c" * 64, "rebuild": "git"},
        "no_queue": {"queue": "q"},
        "no_priority": {"priority": "p"},
    }
    for code in run:
        facts = replace(facts, **given_fields[code])  # type: ignore[arg-type]
    assert {refusal.code for refusal in gate(facts)} == run | inputs


def test_the_error_carries_every_refusal_and_survives_pickling() -> None:
    import pickle

    refusals = [*gate(REASONS["benchmark"]), *gate(REASONS["no_queue"])]
    error = pickle.loads(pickle.dumps(GateRefused(refusals)))
    assert error.refusals == refusals
    assert error.code == "refused"
    assert "public/icd10cm/ready@1111111111111111 is a benchmark" in str(error)
    assert "team-a" in str(error)
