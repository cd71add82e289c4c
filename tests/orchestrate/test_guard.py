"""What a step over private data leaves in Dagster when something raises that nobody foresaw."""

from __future__ import annotations

from pathlib import Path

import dagster as dg
import pytest

from aifactory.errors import FactoryError
from aifactory.orchestrate.guard import LOG, guarded, in_words
from aifactory.orchestrate.pipes import failure

VALUE = "Zaphodine"


def stored(directory: Path, error: Exception) -> str:
    """Every event of a step that raises this, as Dagster keeps it."""

    @dg.op
    def work() -> None:
        with guarded(directory):
            try:
                raise KeyError(VALUE)
            except KeyError as below:
                raise error from below

    @dg.job
    def job() -> None:
        work()

    with dg.DagsterInstance.ephemeral() as instance:
        result = job.execute_in_process(instance=instance, raise_on_error=False)
        assert not result.success
        return "\n".join(dg.serialize_value(entry) for entry in instance.all_logs(result.run_id))


ERRORS = [
    ValueError(f"{VALUE} is no number"),
    dg.Failure("the build failed"),
    failure(FactoryError("the spec was edited", code="edited")),
    ExceptionGroup(VALUE, [ValueError(VALUE)]),
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_a_private_step_tells_no_value_and_keeps_all_of_it(tmp_path: Path, error: Exception) -> None:
    directory = tmp_path / "private" / "clinic" / "runs" / "build-a-000000000000"
    assert VALUE not in stored(directory, error)
    assert not directory.exists()
    directory.mkdir(parents=True)
    text = stored(directory, error)
    assert VALUE not in text
    assert "STEP_FAILURE" in text
    assert VALUE in (directory / LOG).read_text()


def test_a_public_step_tells_what_it_was_raised_from(tmp_path: Path) -> None:
    directory = tmp_path / "public" / "runs" / "build-a-000000000000"
    directory.mkdir(parents=True)
    assert stored(directory, ValueError("no number")).count(VALUE) > 0
    assert not (directory / LOG).exists()


def test_in_a_line_of_a_log() -> None:
    error = FactoryError(f"{VALUE} is damaged", code="journal")
    assert in_words(error, private=False) == str(error)
    assert VALUE not in in_words(error, private=True)
