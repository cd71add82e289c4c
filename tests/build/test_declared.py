"""A build reads what it declared, as it was when it was verified."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from aifactory.channel import Closed
from aifactory.channel.reader import Reader
from tests.build.lab import Lab, rows_stage

RAW, KEY = "public/words/raw", "public/words/clean"
GOOD = "for n, line in enumerate(raw.read_text().split()):\n    yield Row(n, line)"
OPENS = "from aifactory.namespace import Namespace\nfound = Namespace.open().resolve({!r})\n"


def ended(lab: Lab, key: str) -> Closed:
    """Build in a process of its own, through the entrypoint of every run."""
    process, attempt = lab.process(key)
    process.communicate(timeout=120)
    reader = Reader(attempt)
    reader.new()
    assert reader.closed is not None
    return reader.closed


def test_a_function_that_opens_what_it_did_not_declare_is_refused(lab: Lab, good: Callable) -> None:
    secret = {"assets/private/clinic/notes.py": 'from aifactory.datasets import source\nraw = source(file="a.txt")\n'}
    lab.write({**secret, "assets/private/clinic/a.txt": "secret"})
    good("private/clinic/notes/raw")
    lab.write(rows_stage(OPENS.format("private/clinic/notes/raw") + "yield Row(1, found.paths()[0].read_text())"))
    raw = good(RAW).built.version
    closed = ended(lab, KEY)
    assert closed.outcome == "failed_code"
    assert closed.error is not None
    assert "the build of public/words/clean opens private/clinic/notes/raw" in closed.error.text
    assert f"expected: {RAW}@{raw[:16]}" in closed.error.text
    assert "declare it" in closed.error.text
    assert lab.published(KEY) == []


def test_a_key_that_it_opens_by_itself_is_the_declared_version(lab: Lab, good: Callable) -> None:
    lab.write(rows_stage(OPENS.format(RAW) + "for n, at in enumerate(found.version[:3]):\n    yield Row(n, at)"))
    first = good(RAW).built.version
    spec = lab.spec(lab.stages()[KEY])
    lab.write({"assets/public/words.txt": "another\n"})
    assert good(RAW).built.version != first
    lab.spec = lambda stage: spec  # type: ignore[method-assign]
    assert ended(lab, KEY).outcome == "succeeded"
    (path,) = lab.current(KEY).paths()
    assert [row["text"] for row in pq.read_table(path).to_pylist()] == list(first[:3])


SWAPS = {"file": "raw", "version": "raw.parent", "key": "raw.parent.parent"}


@pytest.mark.parametrize("what", SWAPS)
def test_a_symlink_that_is_put_in_an_input_s_place_while_it_is_read_stops_the_build(
    lab: Lab, good: Callable, what: str
) -> None:
    moved = f'Path(r"{lab.root}/moved")'
    swap = f"place = {SWAPS[what]}\nplace.rename({moved})\nplace.symlink_to({moved})\n"
    lab.write(rows_stage(GOOD))
    good(RAW)
    first = good(KEY).built.version
    lab.write(rows_stage(swap + GOOD))
    told = lab.build(KEY)
    assert told.error is not None
    assert told.error.code == "escape"
    assert "is a symlink" in str(told.error)
    assert lab.published(KEY) == [first]
    assert not list(lab.ns.directory(KEY).glob("@staging-*"))


@pytest.mark.parametrize("when", ["before", "while it is read"])
def test_a_snapshot_that_was_deleted_by_hand_is_named_with_what_brings_it_back(
    lab: Lab, good: Callable, when: str
) -> None:
    body = f"import shutil\nshutil.rmtree(raw.parent)\n{GOOD}" if when != "before" else GOOD
    lab.write(rows_stage(body))
    good(RAW)
    place = lab.current(RAW).path
    stage = lab.stages()[KEY]
    spec = lab.spec(stage)
    if when == "before":
        shutil.rmtree(place)
    error = lab.run(lab.job(spec)).error
    assert error is not None
    assert error.code == "missing"
    assert str(place) in str(error)
    assert "materialize the key again" in error.fix
    assert lab.published(KEY) == []
    again = good(RAW).built
    assert Path(place).is_dir()
    assert again.version.startswith(place.name[1:])


def test_a_run_of_private_data_in_a_public_directory_reads_nothing(lab: Lab, good: Callable) -> None:
    text = rows_stage(f'Path(r"{lab.root}/reached").touch()\n{GOOD}')["assets/public/words.py"]
    lab.write({"assets/private/clinic/words.py": text, "assets/private/clinic/words.txt": "secret"})
    good("private/clinic/words/raw")
    process, attempt = lab.process("private/clinic/words/clean", access="public")
    assert process.wait(timeout=120) == 1
    process.communicate()
    closed = Reader(attempt).new()[-1].payload
    assert closed.outcome == "failed_code"
    assert "private/clinic/words/raw -> the run build-test-000000000002 in public/runs" in closed.error.text
    assert not (lab.root / "reached").exists()
    assert lab.published("private/clinic/words/clean") == []
