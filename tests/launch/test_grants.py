"""Grants from the plan to the process: recorded, asked by the gate, and asked again where bytes are written."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from aifactory.errors import FactoryError
from aifactory.launch import Attempts, GateRefused, ask, gate, launch, plan
from aifactory.namespace import Grant
from aifactory.spec import Context
from tests.launch.lab import Lab
from tests.launch.published import RECIPE, publish, publish_all
from tests.launch.reasons import DATA, FACTS

GRANT = Grant("private/clinic", "private/oncology", "board, 2026-03-02")
TABLE = '[[tool.aifactory.grants]]\nfrom = "private/clinic"\nto = "private/oncology"\nwhy = "board, 2026-03-02"\n'
NOTES, OUT = "private/clinic/notes", "private/oncology/out"


def test_the_gate_asks_the_grants_in_force() -> None:
    notes = replace(DATA, key=NOTES, access="private/clinic")
    facts = replace(FACTS, output="private/oncology/models/a", access="private/oncology", inputs=(notes,))
    (refusal,) = gate(facts)
    assert (refusal.code, refusal.found, refusal.expected) == ("class", "private/clinic", "private/oncology")
    assert "grant from private/clinic to private/oncology" in refusal.fix
    assert gate(replace(facts, grants=(GRANT,))) == []
    assert [one.code for one in gate(replace(facts, access="public", grants=(GRANT,)))] == ["class"]


def test_the_gate_refuses_suites_that_the_line_may_not_hold_and_a_directory_of_another_class() -> None:
    (refusal,) = gate(replace(FACTS, suites=("public/a", "private/clinic/heldout")))
    assert (refusal.code, refusal.found) == ("class", "private/clinic")
    assert "private/clinic/heldout" in refusal.what
    (refusal,) = gate(replace(FACTS, place="private/clinic"))
    assert (refusal.code, refusal.found) == ("class", "private/clinic/runs/train-tiny-1")
    assert gate(replace(FACTS, place="public", suites=("public/a",))) == []


def test_a_plan_records_the_grants_in_force_and_a_launch_by_hash_takes_those_of_now(own_lab: Lab) -> None:
    publish_all(own_lab.ns)
    project, ns = own_lab.project, own_lab.ns
    first = plan(RECIPE, project=project, ns=ns)
    assert first.context.grants == ()
    own_lab.write("pyproject.toml", TABLE)
    with pytest.raises(FactoryError, match="unknown project"):
        plan(RECIPE, project=project, ns=ns)
    for owner in ("clinic", "oncology"):
        own_lab.write(f"assets/private/{owner}/__init__.py", "")
    assert plan(RECIPE, project=project, ns=ns).context.grants == (GRANT,)
    again = plan(first.hash, project=project, ns=ns)
    assert (again.hash, again.context.grants) == (first.hash, (GRANT,))


def test_a_run_under_a_grant_stands_in_the_project_that_makes_something_and_works(lab: Lab) -> None:
    notes = publish(lab.ns, NOTES, "table", {"rows": "notes"})
    planned = lab.plan("say", key=OUT, inputs=[("notes", NOTES, notes.version)], context={"grants": [GRANT]})
    result = launch(planned, run="build-out-1", project=lab.project, ns=lab.ns)
    assert result.outcome == "succeeded", result.error
    assert result.directory == lab.ns.root / "private/oncology/runs/build-out-1"
    record = json.loads((result.directory / "context.json").read_bytes())
    assert record["grants"] == [{"source": GRANT.source, "target": GRANT.target, "why": GRANT.why}]


def test_a_grant_that_is_gone_refuses_the_spec_that_was_frozen_under_it(lab: Lab) -> None:
    notes = publish(lab.ns, NOTES, "table", {"rows": "notes"})
    planned = lab.plan("say", key=OUT, inputs=[("notes", NOTES, notes.version)], context={"grants": [GRANT]})
    gone = replace(planned, context=planned.context.evolve({"grants": ()}))
    assert [one.code for one in ask(gone, project=lab.project, ns=lab.ns).refusals] == ["class"]
    with pytest.raises(GateRefused, match="class"):
        launch(gone, run="build-out-2", project=lab.project, ns=lab.ns)


def test_a_context_without_the_grant_stops_the_process_too(lab: Lab) -> None:
    """The gate has answered; then somebody edits what no hash covers."""
    notes = publish(lab.ns, NOTES, "table", {"rows": "notes"})
    planned = lab.plan("say", key=OUT, inputs=[("notes", NOTES, notes.version)], context={"grants": [GRANT]})

    def edit(change: str) -> None:
        file = planned.class_root / "runs/build-out-3/context.json"
        if Attempts(file.parent).newest() is not None and not (file.parent / "edited").exists():
            (file.parent / "edited").touch()
            file.chmod(0o644)
            file.write_bytes(Context.load(file).evolve({"grants": ()}).to_bytes())

    result = launch(planned, run="build-out-3", on_change=edit, project=lab.project, ns=lab.ns)
    assert result.outcome == "failed_code"
    assert result.error is not None
    assert "private/clinic/notes -> the run build-out-3 in private/oncology/runs" in result.error.text


def test_no_further_attempt_is_made_when_its_mounts_are_not_allowed_any_more(lab: Lab) -> None:
    """The gate is asked once a run; the mounts are planned before every attempt."""
    notes = publish(lab.ns, NOTES, "table", {"rows": "notes"})
    planned = lab.plan("fail", key=OUT, inputs=[("notes", NOTES, notes.version)], context={"grants": [GRANT]})
    result = launch(planned, run="build-out-4", project=lab.project, ns=lab.ns)
    assert result.outcome == "failed_code"
    file = result.directory / "context.json"
    file.chmod(0o644)
    file.write_bytes(Context.load(file).evolve({"grants": ()}).to_bytes())
    with pytest.raises(FactoryError) as caught:
        launch(planned, run="build-out-4", tries=2, project=lab.project, ns=lab.ns)
    assert caught.value.code == "class"
    assert f"/factory/{notes.name.replace('@', '/@')} -> a mount of the run build-out-4" in str(caught.value)
    assert len(Attempts(result.directory).all()) == 1
