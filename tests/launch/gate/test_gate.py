"""The gate: pure, all reasons at once, each with its code and its fix."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aifactory.launch import CheckFact, GateRefused, InputFact, gate
from tests.launch.reasons import AWAY, CHECKPOINT, DATA, FACTS, IMAGE, OCI, REASONS, SHAPE

GONE = replace(IMAGE, available=False)


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


def test_what_only_matters_away_from_the_laptop_passes_on_it() -> None:
    assert (
        gate(replace(FACTS, dirty="4" * 64, commit=None, image=replace(IMAGE, reference="", pinned="", proofs=())))
        == []
    )
    assert gate(AWAY) == []


def test_a_checkout_without_a_commit_stays_on_the_laptop() -> None:
    (refusal,) = gate(replace(AWAY, commit=None))
    assert (refusal.code, refusal.found) == ("dirty", "no commit is known")


@pytest.mark.parametrize(
    ("image", "found"),
    [
        (replace(IMAGE, pinned="", reference=""), "no entry"),
        (replace(IMAGE, pinned="0" * 64), "0" * 64),
        (replace(IMAGE, reference="registry.example/aifactory/train:latest"), "may move"),
    ],
)
def test_an_image_that_no_digest_pins_does_not_leave_the_laptop(image: object, found: str) -> None:
    (refusal,) = gate(replace(AWAY, image=image))  # type: ignore[arg-type]
    assert refusal.code == "image_not_pinned"
    assert found in refusal.found


def test_a_proof_of_another_build_of_the_same_inputs_is_none_and_a_smoke_run_needs_none() -> None:
    other = replace(AWAY, image=replace(IMAGE, proofs=("sha256:" + "8" * 64,)))
    (refusal,) = gate(other)
    assert refusal.code == "image_unverified"
    assert OCI in refusal.expected
    assert gate(replace(other, kind="smoke")) == []


def test_a_schema_that_nobody_recorded_is_not_compared() -> None:
    assert gate(replace(FACTS, schema="")) == []
    assert gate(replace(FACTS, image=replace(IMAGE, schema=""))) == []


def test_a_shape_matters_to_a_training_from_a_checkpoint_alone() -> None:
    same = replace(CHECKPOINT, shape=SHAPE)
    assert gate(replace(FACTS, inputs=(same,))) == []
    assert gate(replace(FACTS, inputs=(CHECKPOINT,), kind="evaluate", shape=None)) == []
    (refusal,) = gate(replace(FACTS, inputs=(CHECKPOINT,)))
    assert (refusal.found, refusal.expected) == ("model.ffn=512, model.hidden=128", "model.ffn=256, model.hidden=64")


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
        "image_gone": {"image": GONE},
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
