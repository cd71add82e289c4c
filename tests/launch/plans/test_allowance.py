"""Overriding the gate: by code, with a reason, and never a class."""

from __future__ import annotations

import json

import pytest

from aifactory.errors import FactoryError
from aifactory.launch import GateRefused, ask, gate, launch, plan
from aifactory.launch.plans.allowance import ALLOWABLE, CLASS, IMPOSSIBLE, allowance, split
from aifactory.namespace import Audit, Audits
from aifactory.spec import Context
from tests.launch.lab import Lab
from tests.launch.published import READY, RECIPE, publish, publish_all
from tests.launch.reasons import REASONS


def test_every_refusal_of_the_gate_is_allowable_or_says_why_not() -> None:
    assert set(REASONS) | {"input_not_built"} == ALLOWABLE | IMPOSSIBLE | {CLASS}


def test_codes_are_sorted_and_named_once() -> None:
    assert allowance(["shape", "dirty", "shape"], "a reason") == ("dirty", "shape")
    assert allowance([], "") == ()


@pytest.mark.parametrize(
    ("codes", "why", "code"),
    [
        (["class"], "a reason", "class_override"),
        (["check_red", "class"], "a reason", "class_override"),
        (["image_gone"], "a reason", "impossible_override"),
        (["check_rde"], "a reason", "unknown_code"),
        (["check_red"], "  ", "why"),
        ([], "a reason", "why"),
    ],
)
def test_what_cannot_be_allowed_is_an_error(codes: list[str], why: str, code: str) -> None:
    with pytest.raises(FactoryError) as caught:
        allowance(codes, why)
    assert caught.value.code == code
    assert caught.value.fix


def test_only_the_refusals_that_are_named_are_allowed() -> None:
    refusals = [*gate(REASONS["benchmark"]), *gate(REASONS["check_red"])]
    stands, allowed = split(refusals, ["check_red"])
    assert [one.code for one in stands] == ["benchmark"]
    assert [one.code for one in allowed] == ["check_red"]


def test_a_class_stands_even_where_a_context_was_edited_to_allow_it(lab: Lab) -> None:
    secret = publish(lab.ns, "private/oncology/notes", "table", {"rows": "rows"})
    planned = lab.plan(
        "say",
        inputs=[("notes", "private/oncology/notes", secret.version)],
        context={"allow": ("class",), "why": "because"},
    )
    answer = ask(planned, project=lab.project, ns=lab.ns)
    assert [one.code for one in answer.refusals] == ["class"]
    assert answer.allowed == ()


def test_an_override_launches_and_is_written_into_the_context_and_the_gates_answer(lab: Lab) -> None:
    rows = publish(lab.ns, READY, "table", {"rows": "rows"}, checks={"unique": True})
    Audits(lab.ns, READY, rows.version).add(Audit(check="unique", passed=False, reason="3 twice", run="r"))
    inputs = [("rows", READY, rows.version)]
    with pytest.raises(GateRefused, match="check_red"):
        launch(lab.plan("say", inputs=inputs), run="build-say-1", project=lab.project, ns=lab.ns)
    allowed = lab.plan("say", inputs=inputs, context={"allow": ("check_red",), "why": "three are known"})
    result = launch(allowed, run="build-say-2", project=lab.project, ns=lab.ns)
    assert result.outcome == "succeeded"
    record = json.loads((result.directory / "gate.json").read_bytes())
    assert (record["outcome"], record["refusals"], record["why"]) == ("passed", [], "three are known")
    assert [(one["code"], one["found"]) for one in record["allowed"]] == [("check_red", "3 twice")]
    context = Context.load(result.directory / "context.json")
    assert (context.allow, context.why) == (("check_red",), "three are known")


def test_an_override_changes_no_hash_and_is_no_part_of_the_resolution(lab: Lab) -> None:
    publish_all(lab.ns)
    plain = plan(RECIPE, project=lab.project, ns=lab.ns)
    allowed = plan(RECIPE, allow=["dirty"], why="a test", project=lab.project, ns=lab.ns)
    assert (allowed.hash, allowed.context.allow) == (plain.hash, ("dirty",))
    assert plan(plain.hash, project=lab.project, ns=lab.ns).context.allow == ()
