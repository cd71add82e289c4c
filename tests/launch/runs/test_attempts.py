"""Attempts: what follows from how the newest one ended, and who may record the next."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from aifactory.channel import Process, Writer
from aifactory.channel.payloads import Failure
from aifactory.errors import FactoryError
from aifactory.launch import Attempt, Attempts
from aifactory.launch.runs.attempts import decide

SPEC = "a" * 64
DEAD = Process(pid=2**22 - 1, start=1, boot="gone", session=1)


@pytest.mark.parametrize(
    ("outcome", "decision"),
    [
        ("succeeded", "replay"),
        (None, "adopt"),
        ("failed_code", "report"),
        ("deadline", "report"),
        ("cancelled", "report"),
        ("preempted", "new"),
        ("failed_infrastructure", "new"),
        ("lost", "new"),
    ],
)
def test_the_newest_attempt_decides(outcome: object, decision: str) -> None:
    attempt = Attempt(1, "local", "job-1", SPEC, "", outcome)  # type: ignore[arg-type]
    assert decide(attempt) == decision


def test_without_an_attempt_there_is_a_new_one() -> None:
    assert decide(None) == "new"


def test_failed_code_is_tried_again_while_tries_are_left() -> None:
    assert decide(Attempt(1, "local", "job-1", SPEC, "", "failed_code"), tries=2) == "new"
    assert decide(Attempt(2, "local", "job-2", SPEC, "", "failed_code"), tries=2) == "report"
    assert decide(Attempt(1, "local", "job-1", SPEC, "", "cancelled"), tries=2) == "report"


def test_of_many_launchers_one_records_the_next_attempt(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        made = list(
            pool.map(
                lambda n: Attempts(tmp_path / "run").start(backend="local", spec=SPEC, writer=str(n), after=None),
                range(8),
            )
        )
    (winner,) = [attempt for attempt in made if attempt is not None]
    assert Attempts(tmp_path / "run").all() == [winner]
    assert winner.job == "run-1"


def test_the_first_recorded_end_stands(tmp_path: Path) -> None:
    attempts = Attempts(tmp_path / "run")
    attempts.start(backend="local", spec=SPEC, writer="one", after=None)
    error = Failure(type="E", text="t")
    assert attempts.end(1, "lost", writer="one", error=error).outcome == "lost"
    ended = attempts.end(1, "succeeded", writer="two")
    assert (ended.outcome, ended.error) == ("lost", error)
    again = attempts.start(backend="local", spec=SPEC, writer="one", after=ended)
    assert again is not None
    assert again.number == 2


def test_the_last_message_says_how_an_unwatched_attempt_ended(tmp_path: Path) -> None:
    attempts = Attempts(tmp_path / "run")
    attempt = attempts.start(backend="local", spec=SPEC, writer="one", after=None)
    assert attempt is not None
    assert attempts.ended_by_itself(attempt) is None
    DEAD.claim(attempts.path(1))
    assert (attempts.ended_by_itself(attempt) or ("",))[0] == "lost"
    with Writer(attempts.path(1)):
        pass
    settled = attempts.settle(writer="two")
    assert settled is not None
    assert settled.outcome == "succeeded"


@pytest.mark.parametrize("damage", [b"", b"{}"])
def test_a_damaged_journal_of_attempts_is_an_error_and_launches_nothing(tmp_path: Path, damage: bytes) -> None:
    attempts = Attempts(tmp_path / "run")
    attempts.start(backend="local", spec=SPEC, writer="one", after=None)
    record = tmp_path / "run/attempts/@journal/00000001.json"
    record.chmod(0o644)
    record.write_bytes(damage)
    with pytest.raises(FactoryError) as caught:
        Attempts(tmp_path / "run").all()
    assert caught.value.code == "journal"
