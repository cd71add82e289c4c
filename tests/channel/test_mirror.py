"""A copy of an attempt that is kept by commands: every message once and in order, whatever becomes of the answers."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aifactory.channel import Commands, Note, Process, Progress, Reader, Started, Writer
from aifactory.channel.mirror import Mirror
from aifactory.channel.serve import FETCHED, Site
from aifactory.channel.serve import main as serve
from aifactory.errors import FactoryError
from aifactory.store import Journal

RUN = "train-tiny-0123456789ab"


class Attempt:
    """An attempt at its site, and the place of its copy."""

    def __init__(self, root: Path, of: str = "public"):
        self.run, self.copy_run = root / "site" / of / "runs" / RUN, root / "here" / of / "runs" / RUN
        self.there, self.here = (run / "attempts/00000001" for run in (self.run, self.copy_run))
        for place in (self.there, self.here):
            place.mkdir(parents=True)
        self.now = 0.0
        self.writer = Writer(self.there)

    def mirror(self, exec: Callable[[list[str]], bytes] | None = None, **more: object) -> Mirror:
        return Mirror(self.here, str(self.run), exec or self.exec, clock=lambda: self.now, **more)  # type: ignore[arg-type]

    def exec(self, command: list[str]) -> bytes:
        """As in the pod, without a process of its own."""
        assert command[:3] == ["python", "-m", "aifactory.channel.serve"]
        with tempfile.TemporaryFile("w+") as out:
            before, sys.stdout = sys.stdout, out
            try:
                assert serve(command[3:]) == 0
            finally:
                sys.stdout = before
            out.seek(0)
            return out.read().encode()

    def say(self, count: int) -> None:
        for _ in range(count):
            self.writer.send(Note(text=f"note {self.writer.count + 1} \u2028 \u00e4"))


def texts(attempt_directory: Path) -> list[str]:
    return [m.payload.text for m in Reader(attempt_directory).new() if isinstance(m.payload, Note)]


faults = st.lists(
    st.tuples(
        st.integers(0, 4),  # what is said meanwhile
        st.sampled_from(["ok", "away", "cut", "shuffled", "doubled", "thinned", "late", "flipped"]),
        st.randoms(use_true_random=False),
    ),
    max_size=8,
)


@settings(max_examples=30)
@given(faults)
def test_messages_come_once_and_in_order_whatever_becomes_of_the_answers(steps: list[tuple[int, str, object]]) -> None:
    with tempfile.TemporaryDirectory() as name:
        attempt, answers = Attempt(Path(name)), [b""]
        fault: tuple[str, object] = ("ok", None)

        def exec(command: list[str]) -> bytes:
            kind, chance = fault
            if kind == "away":
                raise ConnectionResetError("the pod can't be reached")
            answer = attempt.exec(command)
            answers.append(answer)
            return spoilt(kind, answer, answers, chance)

        mirror, expected = attempt.mirror(exec), 0
        for count, kind, chance in steps:
            attempt.say(count)
            expected += count
            fault = (kind, chance)
            attempt.now += 10
            with suppress(ConnectionResetError):
                mirror.pull()
            whole = texts(attempt.here)
            assert whole == texts(attempt.there)[: len(whole)]
        fault = ("ok", None)
        attempt.writer.close("succeeded")
        again = attempt.mirror(exec)  # another control plane, or this one started anew
        while again.pull():
            pass
        assert texts(attempt.here) == texts(attempt.there)
        assert len(Reader(attempt.here).new()) == expected + 1
        assert again.complete
        assert (attempt.there / FETCHED).exists()


def spoilt(kind: str, answer: bytes, answers: list[bytes], chance: object) -> bytes:
    lines = answer.splitlines(keepends=True)
    if kind == "cut":
        return answer[: chance.randint(0, len(answer))]  # type: ignore[attr-defined]
    if kind == "shuffled":
        chance.shuffle(lines)  # type: ignore[attr-defined]
    elif kind == "doubled":
        lines += lines
    elif kind == "thinned":
        lines = [line for line in lines if chance.random() < 0.5]  # type: ignore[attr-defined]
    elif kind == "late":
        return answers[chance.randint(0, len(answers) - 1)]  # type: ignore[attr-defined]
    elif kind == "flipped" and answer:
        at = chance.randint(0, len(answer) - 1)  # type: ignore[attr-defined]
        return answer[:at] + bytes([answer[at] ^ 1]) + answer[at + 1 :]
    return b"".join(lines)


@settings(max_examples=12)
@given(st.integers(3, 12), st.data())
def test_records_that_stay_away_are_named_after_a_while_and_late_ones_are_taken(
    count: int, data: st.DataObject
) -> None:
    gone = sorted(data.draw(st.sets(st.integers(1, count - 1), min_size=1, max_size=2)))
    with tempfile.TemporaryDirectory() as name:
        attempt = Attempt(Path(name))
        attempt.say(count)
        away = {n: (attempt.there / f"messages/{n:08d}.json").read_bytes() for n in gone}
        for n in gone:
            (attempt.there / f"messages/{n:08d}.json").unlink()
        mirror = attempt.mirror(late=90)
        for _ in range(4):
            assert not mirror.pull()
            attempt.now += 20
        if data.draw(st.booleans()):
            for n, record in away.items():
                (attempt.there / f"messages/{n:08d}.json").write_bytes(record)
            mirror.pull()
            assert texts(attempt.here) == texts(attempt.there)
            return
        attempt.now += 20
        with pytest.raises(FactoryError) as caught:
            mirror.pull()
        assert caught.value.code == "gap"
        assert f"record{'s' if len(gone) > 1 else ''} {', '.join(map(str, gone))} of messages missing" in str(
            caught.value
        )
        assert len(Reader(attempt.here).new()) == gone[0] - 1


def test_a_record_that_is_damaged_at_its_site_is_named(tmp_path: Path) -> None:
    attempt = Attempt(tmp_path)
    attempt.say(3)
    path = attempt.there / "messages/00000002.json"
    whole = path.read_bytes()
    path.chmod(0o644)
    path.write_bytes(whole[:-20])
    mirror = attempt.mirror()
    mirror.pull()
    attempt.now += 100
    with pytest.raises(FactoryError, match="record 2 of messages is damaged"):
        mirror.pull()
    path.write_bytes(whole)
    mirror.pull()
    assert len(texts(attempt.here)) == 3


def test_everything_else_comes_too_and_commands_go_there(tmp_path: Path) -> None:
    attempt = Attempt(tmp_path)
    Process.current().claim(attempt.there)
    attempt.writer.send(Started(kind="train", spec="0" * 64, pid=1))
    saved = attempt.run / "checkpoints/step-00000010"
    saved.mkdir(parents=True)
    (saved / "checkpoint.json").write_text("{}")
    (saved / "model.bin").write_bytes(b"large")
    (attempt.there / "logs").mkdir()
    log = attempt.there / "logs/driver.log"
    log.write_text("one\n")
    (attempt.there / "metrics.jsonl").write_text('{"step": 1}\n')
    Commands(attempt.here).send("stop")
    mirror = attempt.mirror()
    mirror.pull()
    assert [command.name for command in Commands(attempt.there).pending()] == ["stop"]
    Commands(attempt.there).acknowledge(1, "taken")
    with log.open("a") as file:
        file.write("two\n")
    mirror = attempt.mirror()
    while mirror.pull():
        pass
    mirror.pull()
    assert Process.load(attempt.here) == Process.current()
    assert (attempt.copy_run / "checkpoints/step-00000010/checkpoint.json").read_text() == "{}"
    assert not (attempt.copy_run / "checkpoints/step-00000010/model.bin").exists()
    assert (attempt.here / "logs/driver.log").read_text() == "one\ntwo\n"
    assert (attempt.here / "metrics.jsonl").read_text() == '{"step": 1}\n'
    assert Commands(attempt.here).acknowledged() == {1: "taken"}
    assert not mirror.complete


def test_a_flood_is_skipped_over_and_every_answer_is_bounded(tmp_path: Path) -> None:
    attempt = Attempt(tmp_path)
    (attempt.there / "logs").mkdir()
    (attempt.there / "logs/driver.log").write_bytes(b"x" * 79 + b"\n" * 80_000 + b"the end\n")
    attempt.writer.send(Note(text="y" * 2_000_000))
    attempt.say(40)
    sizes = []

    def exec(command: list[str]) -> bytes:
        sizes.append(len(answer := attempt.exec(command)))
        return answer

    (attempt.there / "logs/driver.log").write_bytes(b"x\n" * 1_500_000 + b"the end\n")
    mirror = attempt.mirror(exec)
    while mirror.pull():
        pass
    assert len(texts(attempt.here)) == 41
    kept = (attempt.here / "logs/driver.log").read_text()
    assert kept.endswith("the end\n")
    assert "bytes were not fetched; the whole log is" in kept
    assert len(kept) < 100_000
    # One record is larger than an answer may be; it comes alone.
    assert sorted(sizes)[-2] < 1_000_000


def test_of_a_private_run_no_raw_output_leaves_whoever_asks(tmp_path: Path) -> None:
    attempt = Attempt(tmp_path, "private/ward")
    (attempt.there / "logs").mkdir()
    for name in ("driver.log", "worker-0.log", "withheld.jsonl"):
        (attempt.there / "logs" / name).write_text("Zaphodine has a broken arm\n")
    attempt.writer.send(Note(text="Zaphodine"))
    attempt.writer.send(Progress(text="at work", done=1))
    mirror = attempt.mirror()
    mirror.pull()
    assert len(Reader(attempt.here).new()) == 2
    for path in attempt.copy_run.rglob("*"):
        assert path.is_dir() or b"Zaphodine" not in path.read_bytes()
    answer = b"".join(one.model_dump_json().encode() for one in Site(attempt.run, 1).lines({}, {}, frozenset()))
    assert b"logs/" not in answer
    # A site that is not to be trusted: what it hands over all the same is not kept.
    open_one = Attempt(tmp_path / "open")
    (open_one.there / "logs").mkdir()
    (open_one.there / "logs/driver.log").write_text("Zaphodine\n")
    attempt.mirror(lambda command: open_one.exec([*command[:4], str(open_one.run), *command[5:]])).pull()
    assert not (attempt.here / "logs").exists()


def test_an_answer_can_write_nothing_but_the_files_of_an_attempt(tmp_path: Path) -> None:
    attempt = Attempt(tmp_path)
    hostile = b"\n".join(
        (
            b'{"type":"file","name":"../../spec.json","data":"e30="}',
            b'{"type":"file","name":"checkpoints/../../x.json","data":"e30="}',
            b'{"type":"chunk","name":"../outside.log","start":0,"data":"e30="}',
            b'{"type":"chunk","name":"logs/driver.log","start":5,"skipped":0,"data":"e30="}',
            b'{"type":"record","journal":"commands","n":1,"data":"e30="}',
            b'{"type":"record","journal":"../../@journal","n":1,"data":"e30="}',
            b'{"type":"what"}',
        )
    )
    attempt.mirror(lambda command: hostile).pull()
    assert [path for path in attempt.copy_run.rglob("*") if path.is_file()] == []


def test_it_works_by_a_real_process(tmp_path: Path) -> None:
    attempt = Attempt(tmp_path)
    attempt.say(3)
    attempt.writer.close("succeeded")

    def exec(command: list[str]) -> bytes:
        env = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
        return subprocess.run(command, env=env, check=True, stdout=subprocess.PIPE).stdout

    mirror = attempt.mirror(exec, python=sys.executable)
    assert not mirror.pull()
    assert mirror.complete
    assert Reader(attempt.here).new() == Reader(attempt.there).new()
    assert Journal(attempt.there / "messages").last() == Journal(attempt.here / "messages").last()
    assert (attempt.there / FETCHED).exists()
