"""Messages: written whole, numbered, read resumably, and never taken for complete when they are not."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from aifactory.channel import (
    Audited,
    Cancelled,
    CheckpointSaved,
    Closed,
    Failure,
    Message,
    Note,
    Payload,
    Progress,
    Reader,
    Scored,
    StageBuilt,
    Started,
    Writer,
)
from aifactory.channel import writer as writer_module
from aifactory.errors import FactoryError

PAYLOADS: list[Payload] = [
    Started(kind="train", spec="a" * 64, pid=7),
    Progress(text="tokenize", done=3, total=10, unit="rows"),
    StageBuilt(key="public/a/b", version="1" * 64, outcome="published", build_key="2" * 64, code_version="3"),
    Audited(key="public/a/b", version="1" * 64, check="rows", passed=False, blocking=True, counts={"rows": 3}),
    CheckpointSaved(step=3, path="/factory/public/runs/x/checkpoints/step-00000003", digest="4" * 64, loss=2.0),
    Scored(suite="s", key="k", scorer="m", metric="accuracy", value=0.5, low=0.4, high=0.6, items=9),
    Note(text="grüß\nGott", level="warning"),
    Closed(count=8, outcome="failed_code", error=Failure(type="E", text="t", trace="a\nb\n")),
]


@pytest.fixture
def attempt(tmp_path: Path) -> Path:
    return tmp_path / "attempts" / "00000003"


def texts(messages: list[Message]) -> list[str]:
    return [m.payload.text for m in messages if isinstance(m.payload, Note | Progress)]


@pytest.mark.parametrize("payload", PAYLOADS, ids=lambda payload: payload.type)
def test_every_payload_comes_back_as_it_was_sent(payload: Payload) -> None:
    now = datetime.now(UTC).isoformat()
    message = Message.of(payload, seq=8, attempt=3, time=now)
    assert Message.model_validate(json.loads(json.dumps(message.body()))).payload == payload


@pytest.mark.parametrize("payload", PAYLOADS, ids=lambda payload: payload.type)
def test_every_message_has_the_shape_of_a_pipes_message(payload: Payload) -> None:
    pipes = Message.of(payload, seq=1, attempt=1, time="").pipes
    assert set(pipes) == {"__dagster_pipes_version", "method", "params"}
    expected = {
        "opened": {"extras"},
        "closed": {"payload", "exception"},
        "log": {"message", "level"},
        "report_custom_message": {"payload"},
    }
    assert set(pipes["params"]) == expected[pipes["method"]]


def test_an_unknown_field_or_type_of_payload_is_an_error() -> None:
    body = Message.of(PAYLOADS[4], seq=1, attempt=1, time="").body()
    body["params"]["payload"]["weight"] = 1
    with pytest.raises(ValidationError):
        _ = Message.model_validate(body).payload
    body["params"]["payload"] = {"type": "telepathy"}
    with pytest.raises(ValidationError):
        _ = Message.model_validate(body).payload


def test_messages_are_read_in_order_and_from_any_number_on(attempt: Path) -> None:
    with Writer(attempt) as writer:
        for number in range(5):
            writer.send(Note(text=str(number)))
    reader = Reader(attempt)
    messages = reader.new()
    assert [(m.seq, m.attempt) for m in messages] == [(n, 3) for n in range(1, 7)]
    assert texts(messages) == list("01234")
    assert reader.closed is not None
    assert (reader.closed.count, reader.closed.outcome) == (6, "succeeded")
    assert reader.new() == []
    assert texts(Reader(attempt, after=3).new()) == ["3", "4"]


def test_a_reader_gets_each_message_once_while_they_are_written(attempt: Path) -> None:
    reader, heard = Reader(attempt), []
    assert reader.new() == []
    writer = Writer(attempt)
    for number in range(4):
        writer.send(Note(text=str(number)))
        heard += texts(reader.new())
        assert reader.closed is None
    assert heard == list("0123")


@settings(max_examples=40, deadline=None)  # each example flushes files to the disk
@given(st.lists(st.sampled_from("pn"), max_size=12))
def test_the_last_progress_is_never_lost_and_order_is_kept(
    tmp_path_factory: pytest.TempPathFactory, kinds: list[str]
) -> None:
    attempt = tmp_path_factory.mktemp("attempt")
    with Writer(attempt) as writer:
        for number, kind in enumerate(kinds):
            writer.send(Progress(text=str(number)) if kind == "p" else Note(text=str(number)))
    heard = [int(text) for text in texts(Reader(attempt).new())]
    assert heard == sorted(set(heard))
    kept = {n for n, kind in enumerate(kinds) if kind == "n" or kinds[n + 1 : n + 2] != ["p"]}
    assert kept <= set(heard)


def test_progress_is_sent_at_most_twice_a_second(attempt: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(writer_module.time, "monotonic", lambda: now[0])
    writer = Writer(attempt)
    for number in range(100):
        now[0] += 0.05
        writer.send(Progress(text=str(number)))
    assert writer.count == 10
    writer.flush()
    assert writer.count == 10
    now[0] += 1
    writer.flush()
    assert texts(Reader(attempt).new())[-1] == "99"


def test_an_exception_closes_the_channel_and_is_raised_on(attempt: Path) -> None:
    with pytest.raises(ZeroDivisionError), Writer(attempt):
        1 / 0  # noqa: B018
    reader = Reader(attempt)
    reader.new()
    assert reader.closed is not None
    assert reader.closed.outcome == "failed_code"
    assert reader.closed.error is not None
    assert reader.closed.error.type == "ZeroDivisionError"
    assert "1 / 0" in reader.closed.error.trace


def test_a_cancellation_closes_the_channel_as_cancelled(attempt: Path) -> None:
    with pytest.raises(Cancelled), Writer(attempt):
        raise Cancelled
    reader = Reader(attempt)
    reader.new()
    assert reader.closed is not None
    assert reader.closed.outcome == "cancelled"


@pytest.mark.parametrize("error", [ValueError("row 7: Ada"), FactoryError("row 7: Ada", code="nan")])
def test_a_private_channel_quotes_no_exception_and_keeps_it_whole(attempt: Path, error: Exception) -> None:
    with pytest.raises(type(error)), Writer(attempt, private=True):
        raise error
    reader = Reader(attempt)
    reader.new()
    assert reader.closed is not None
    assert reader.closed.error is not None
    assert reader.closed.error.type == type(error).__name__
    assert "row 7" not in reader.closed.error.model_dump_json()
    assert "quotes_no_exception" in reader.closed.error.trace
    assert "row 7: Ada" in (attempt / "logs" / "withheld.jsonl").read_text()


def test_nothing_can_be_sent_after_the_end(attempt: Path) -> None:
    with Writer(attempt) as writer:
        pass
    for again in (writer, Writer(attempt)):
        with pytest.raises(FactoryError) as caught:
            again.send(Note(text="too late"))
        assert caught.value.code == "closed"


def test_a_message_that_finds_no_room_is_an_error_and_the_earlier_ones_stay(
    small_disk: tuple[Path, Callable[[int], AbstractContextManager[None]]],
) -> None:
    disk, room = small_disk
    writer = Writer(disk / "00000001")
    writer.send(Note(text="one"))
    with room(0), pytest.raises(FactoryError) as caught:
        writer.send(Note(text="x" * 100_000))
    assert caught.value.code == "disk_full"
    writer.send(Note(text="two"))
    writer.close("succeeded")
    assert texts(Reader(disk / "00000001").new()) == ["one", "two"]


def test_a_missing_message_is_a_gap(attempt: Path) -> None:
    with Writer(attempt) as writer:
        for number in range(4):
            writer.send(Note(text=str(number)))
    reader = Reader(attempt)
    (attempt / "messages/00000003.json").unlink()
    with pytest.raises(FactoryError) as caught:
        reader.new()
    assert caught.value.code == "gap"
    assert "message 3 is missing" in caught.value.what


def test_a_lost_tail_is_seen_by_a_reader_that_has_read_it(attempt: Path) -> None:
    writer = Writer(attempt)
    for number in range(3):
        writer.send(Note(text=str(number)))
    reader = Reader(attempt)
    reader.new()
    (attempt / "messages/00000003.json").unlink()
    with pytest.raises(FactoryError) as caught:
        reader.new()
    assert caught.value.code == "gap"


@pytest.mark.parametrize("damage", [lambda data: data[:30], lambda data: data.replace(b"one", b"two"), lambda _: b""])
def test_a_torn_or_altered_message_names_its_file(attempt: Path, damage: object) -> None:
    with Writer(attempt) as writer:
        writer.send(Note(text="one"))
    path = attempt / "messages/00000001.json"
    path.chmod(0o644)
    path.write_bytes(damage(path.read_bytes()))  # type: ignore[operator]
    with pytest.raises(FactoryError) as caught:
        Reader(attempt).new()
    assert caught.value.code == "journal"
    assert "00000001.json" in str(caught.value)


def test_a_writer_that_was_interrupted_within_a_message_can_still_close(
    attempt: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = Writer(attempt)
    writer.send(Note(text="one"))
    append = writer_module.Journal.append

    def interrupted(*arguments: object, **named: object) -> None:
        append(*arguments, **named)  # type: ignore[arg-type]
        raise Cancelled

    monkeypatch.setattr(writer_module.Journal, "append", interrupted)
    with pytest.raises(Cancelled):
        writer.send(Note(text="two"))
    monkeypatch.undo()
    writer.close("cancelled")
    reader = Reader(attempt)
    assert texts(reader.new()) == ["one", "two"]
    assert reader.closed is not None
    assert reader.closed.count == 3
