"""The table of reasons, and what depends on it."""

from __future__ import annotations

import re
from typing import get_args

from aifactory.channel.payloads import Failure
from aifactory.channel.redact import CLUSTER, SHOWN, safe_failure
from aifactory.launch.kuberay.observe import BY_PHASE, REASONS, fix_of
from aifactory.launch.runs.result import TRY_AGAIN, Outcome
from tests.launch.kuberay.observe.recorded import NAMES, seen


def test_a_code_is_one_word_and_stands_once() -> None:
    assert len(REASONS) == sum(len(table) for table in BY_PHASE.values())
    assert all(re.fullmatch(r"[a-z][a-z_]{0,39}", code) for code in REASONS)


def test_every_ending_that_a_person_can_mend_says_how() -> None:
    mended = [one for one in REASONS.values() if one.outcome and not one.again and one.outcome != "cancelled"]
    assert all(one.fix for one in mended if one.code != "succeeded")
    assert all(one.outcome in get_args(Outcome) for one in REASONS.values() if one.outcome)
    assert all(one.outcome in TRY_AGAIN for one in REASONS.values() if one.again)
    assert fix_of("no such code") == ""


def test_the_text_of_a_clusters_ending_is_shown_of_a_private_run_too() -> None:
    endings = {one.code for one in REASONS.values() if one.outcome} - {"succeeded"}
    assert endings == CLUSTER
    assert not CLUSTER & SHOWN
    for name in NAMES:
        failure = seen(name).failure
        if failure is not None:
            shown = safe_failure(failure)
            assert (shown.type, shown.text, shown.code) == (failure.type, failure.text, failure.code)
            assert shown.trace == "", "it quotes the driver's log"


def test_a_text_under_another_code_is_not_shown() -> None:
    assert "Canary" not in safe_failure(Failure(type="E", text="Canary", code="kueue_quota")).text
