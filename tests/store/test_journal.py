from __future__ import annotations

import json
import multiprocessing
import pickle
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aifactory.errors import FactoryError
from aifactory.store import Journal, JournalConflict, digest

fork = multiprocessing.get_context("fork")
bodies = st.dictionaries(
    st.text(max_size=8),
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.text(max_size=20) | st.lists(st.text()),
    max_size=4,
)


def filled(directory: Path, count: int) -> Journal:
    journal = Journal(directory)
    for n in range(count):
        journal.append({"value": n}, writer="test")
    return journal


def test_records_are_numbered_chained_and_readable_by_anyone(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "j")
    assert journal.last() is None
    assert journal.records() == []
    first = journal.append({"a": (1, 2.0)}, writer="ann")
    second = Journal(tmp_path / "j").append({}, writer="bob")
    assert (first.n, first.previous, first.body) == (1, "0" * 64, {"a": [1, 2]})
    assert (second.n, second.previous, second.writer) == (2, first.sha256, "bob")
    assert journal.records() == [first, second]
    assert journal.records(after=1) == [second]
    assert journal.last() == second
    raw = json.loads((tmp_path / "j" / "00000002.json").read_bytes())
    assert raw["schema"] == 1
    assert digest({key: value for key, value in raw.items() if key != "sha256"}) == raw["sha256"]


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 2), bodies, st.booleans()), max_size=12), st.data())
def test_whoever_appends_in_whatever_order_every_prefix_reads_back(
    steps: list[tuple[int, dict[str, Any], bool]], data: st.DataObject
) -> None:
    with tempfile.TemporaryDirectory() as place:
        writers = [Journal(Path(place)) for _ in range(3)]
        written = []
        for who, body, knows in steps:
            expect = len(written) if knows else None
            written.append(writers[who].append(body, writer=str(who), expect=expect))
            after = data.draw(st.integers(0, len(written)))
            assert Journal(Path(place)).records(after) == written[after:]
            assert Journal(Path(place)).last() == written[-1]
        assert [record.n for record in written] == list(range(1, len(steps) + 1))
        assert [record.body for record in written] == [body for _, body, _ in steps]


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 4), st.integers(0, 10**6), st.integers(1, 255))
def test_any_changed_byte_in_any_record_is_seen_and_its_file_named(n: int, at: int, change: int) -> None:
    with tempfile.TemporaryDirectory() as place:
        filled(Path(place), 4)
        file = Path(place) / f"{n:08d}.json"
        data = bytearray(file.read_bytes())
        data[at % len(data)] ^= change
        file.chmod(0o644)
        file.write_bytes(data)
        with pytest.raises(FactoryError) as caught:
            Journal(Path(place)).records()
        assert caught.value.code == "journal"
        assert str(file) in str(caught.value)
        assert caught.value.fix


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("after", [0, 1, 3])
def test_a_missing_record_is_named(tmp_path: Path, n: int, after: int) -> None:
    filled(tmp_path, 4)
    (tmp_path / f"{n:08d}.json").unlink()
    with pytest.raises(FactoryError, match=f"{n:08d}.json is (missing|lost)") as caught:
        Journal(tmp_path).records(after)
    assert caught.value.code == "journal"


@pytest.mark.parametrize("keep", [0, 1, 100])
def test_a_torn_record_is_named(tmp_path: Path, keep: int) -> None:
    filled(tmp_path, 3)
    file = tmp_path / "00000003.json"
    data = file.read_bytes()
    file.unlink()
    file.write_bytes(data[:keep])
    for read in (Journal(tmp_path).records, Journal(tmp_path).last, lambda: Journal(tmp_path).append({}, writer="x")):
        with pytest.raises(FactoryError, match=r"00000003\.json is torn"):
            read()


def test_a_record_replaced_by_a_valid_one_breaks_the_chain(tmp_path: Path) -> None:
    filled(tmp_path / "a", 3)
    Journal(tmp_path / "b").append({"value": "other"}, writer="test")
    (tmp_path / "a" / "00000001.json").unlink()
    (tmp_path / "b" / "00000001.json").rename(tmp_path / "a" / "00000001.json")
    with pytest.raises(FactoryError, match=r"00000002\.json doesn't follow"):
        Journal(tmp_path / "a").records()
    with pytest.raises(FactoryError, match=r"00000002\.json doesn't follow"):
        Journal(tmp_path / "a").records(after=1)


def test_a_record_moved_to_another_number_is_seen(tmp_path: Path) -> None:
    filled(tmp_path, 2)
    (tmp_path / "00000003.json").write_bytes((tmp_path / "00000002.json").read_bytes())
    with pytest.raises(FactoryError, match="number of another record"):
        Journal(tmp_path).records()


@pytest.mark.parametrize(
    "text",
    ["[]", "9" * 5000, "{}", "null", '{"schema":2}', "\xff\xfe", '{"n":1e400}', "[" * 100_000],
)
def test_what_is_not_a_record_is_named(tmp_path: Path, text: str) -> None:
    filled(tmp_path, 1)
    (tmp_path / "00000002.json").write_text(text, encoding="latin-1")
    with pytest.raises(FactoryError, match=r"00000002\.json") as caught:
        Journal(tmp_path).records()
    assert caught.value.code == "journal"


def test_another_spelling_of_the_same_content_is_seen(tmp_path: Path) -> None:
    filled(tmp_path, 1)
    file = tmp_path / "00000001.json"
    pretty = json.dumps(json.loads(file.read_bytes()), indent=1)
    file.unlink()
    file.write_text(pretty)
    with pytest.raises(FactoryError, match="altered"):
        Journal(tmp_path).records()


def test_who_read_more_than_is_there_sees_the_lost_tail(tmp_path: Path) -> None:
    filled(tmp_path, 2)
    for act in (lambda: Journal(tmp_path).records(after=3), lambda: Journal(tmp_path).append({}, writer="x", expect=3)):
        with pytest.raises(FactoryError, match=r"00000003\.json is lost"):
            act()


def test_foreign_files_are_no_records(tmp_path: Path) -> None:
    journal = filled(tmp_path, 2)
    for name in [".tmp-1-abc", "00000003.json.swp", "notes.txt", "3.json"]:
        (tmp_path / name).write_text("{")
    assert [record.n for record in journal.records()] == [1, 2]
    assert journal.append({}, writer="x").n == 3


def test_the_loser_of_a_number_gets_the_winner(tmp_path: Path) -> None:
    filled(tmp_path, 1)
    winner = Journal(tmp_path).append({"mine": True}, writer="ann", expect=1)
    with pytest.raises(JournalConflict, match="taken by another writer") as caught:
        Journal(tmp_path).append({}, writer="bob", expect=1)
    assert caught.value.winner == winner
    assert "ann" in str(caught.value)
    assert pickle.loads(pickle.dumps(caught.value)).winner == winner


def test_a_large_number_that_was_written_can_be_read(tmp_path: Path) -> None:
    Journal(tmp_path).append({"norm": 1e17}, writer="x")
    assert Journal(tmp_path).records()[0].body == {"norm": 1e17}


def test_processes_that_append_at_once_lose_nothing(tmp_path: Path) -> None:
    def write(who: int) -> None:
        journal = Journal(tmp_path)
        barrier.wait()
        for n in range(15):
            journal.append({"n": n}, writer=str(who))

    barrier = fork.Barrier(4)
    writers = [fork.Process(target=write, args=(who,)) for who in range(4)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    records = Journal(tmp_path).records()
    assert [record.n for record in records] == list(range(1, 61))
    for who in range(4):
        assert [record.body["n"] for record in records if record.writer == str(who)] == list(range(15))


def test_a_reader_beside_writers_never_sees_a_gap(tmp_path: Path) -> None:
    def write(who: int) -> None:
        journal = Journal(tmp_path)
        for _ in range(60):
            journal.append({}, writer=str(who))

    writers = [fork.Process(target=write, args=(who,)) for who in range(2)]
    for writer in writers:
        writer.start()
    reader, seen = Journal(tmp_path), 0
    while seen < 120:
        new = reader.records(after=seen)
        assert [record.n for record in new] == list(range(seen + 1, seen + 1 + len(new)))
        seen += len(new)
    for writer in writers:
        writer.join()


def test_a_body_that_json_cannot_hold_writes_nothing(tmp_path: Path) -> None:
    with pytest.raises(FactoryError, match="canonical"):
        Journal(tmp_path / "j").append({"loss": float("nan")}, writer="x")
    assert not (tmp_path / "j").exists()


def test_another_copys_records_are_kept_byte_for_byte_in_order_and_once(tmp_path: Path) -> None:
    ours, theirs = Journal(tmp_path / "ours"), Journal(tmp_path / "theirs")
    for number in range(3):
        theirs.append({"value": number}, writer="there")
    data = [(tmp_path / f"theirs/{n:08d}.json").read_bytes() for n in (1, 2, 3)]
    assert ours.accept(1, data[0])
    assert not ours.accept(1, data[0])
    for n, bad, problem in ((3, data[2], "out of order"), (2, data[1][:-9], "torn"), (2, data[0], "number of another")):
        with pytest.raises(FactoryError, match=problem):
            ours.accept(n, bad)
    assert ours.accept(2, data[1])
    assert Journal(tmp_path / "ours").accept(3, data[2])
    assert ours.records() == theirs.records()
    other = Journal(tmp_path / "other")
    for number in range(3):
        other.append({"value": -number}, writer="there")
    with pytest.raises(FactoryError, match="another record in the other copy"):
        Journal(tmp_path / "ours").accept(3, (tmp_path / "other/00000003.json").read_bytes())
    short = Journal(tmp_path / "short")
    short.append({"value": 0}, writer="here")
    with pytest.raises(FactoryError, match="doesn't follow"):
        short.accept(2, data[1])
