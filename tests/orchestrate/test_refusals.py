"""Refusals as the UI shows them: a reviewed table of every one."""

from __future__ import annotations

import os
from pathlib import Path

from aifactory.launch import GateRefused, gate
from aifactory.orchestrate.pipes import failure, refusals_table
from tests.launch.reasons import REASONS

GOLDEN = Path(__file__).parents[1] / "golden" / "refusals.md"


def test_every_refusal_is_shown_as_reviewed() -> None:
    written = refusals_table([refusal for facts in REASONS.values() for refusal in gate(facts)]) + "\n"
    if os.environ.get("AIFACTORY_GOLDEN") == "write":
        GOLDEN.write_text(written)
    assert GOLDEN.read_text() == written, "review the change, then run this with AIFACTORY_GOLDEN=write"
    assert "…" not in written


def test_the_failure_of_a_run_holds_the_table_and_the_codes() -> None:
    refusals = [*gate(REASONS["check_red"]), *gate(REASONS["no_queue"])]
    failed = failure(GateRefused(refusals))
    assert failed.metadata["code"].value == "check_red, no_queue"
    shown = str(failed.metadata["refusals"].value).splitlines()
    assert shown[0] == "| object | found | expected | fix | code |"
    assert [line.split(" | ")[-1] for line in shown[2:]] == ["check_red |", "no_queue |"]
    assert failed.allow_retries is False
