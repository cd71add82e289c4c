"""A project whose private data is nothing but canaries, and whose code spills them wherever it can."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path

from tests.faults.canary import CANARIES
from tests.orchestrate.lab import CHECKOUT, Lab

ROWS = 60

NOTES = '''
import json
import logging
import os
import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
from pydantic import BaseModel

from aifactory.datasets import count, dataset, drop, rows, source, split, suite, tokenize, tokenizer, unique
from aifactory.errors import FactoryError
from aifactory.spec import MultipleChoice
from checks.notes import quotes, raises, warns


@dataclass(frozen=True)
class Note:
    text: str
    kind: str


@dataclass(frozen=True)
class Aged:
    age: int


class Checked(BaseModel):
    age: int


def spill(value):
    """Says the value in every way that a process has."""
    print(value)
    print(value, file=sys.stderr)
    logging.getLogger("notes").error("row %s", value)
    warnings.warn(value, stacklevel=1)
    os.write(1, value.encode())


raw = source(file="notes.jsonl", sha256="SHA256")


@dataset(checks=[rows(60), unique("kind").warning(), quotes(), warns(), raises()])
def clean(raw: Path) -> Iterator[Note]:
    """Every row of the file."""
    for line in raw.open():
        row = json.loads(line)
        spill(row["text"])
        count("read")
        count(row["text"])
        drop(row["text"])
        drop(row["name"])
        yield Note(row["text"], row["kind"])


parts = split(clean, by="text", train=0.6, val=0.2, test=0.2)
bpe = tokenizer(parts, vocabulary=300)
ready = tokenize(parts, tokenizer=bpe)
quiz = suite(parts, scorer=MultipleChoice(question="text", answer="kind"))
'''

FAULTS = """

@dataset
def chained(raw: Path) -> Iterator[Note]:
    first, *_ = (json.loads(line)["text"] for line in raw.open())
    spill(first)
    try:
        try:
            {}[first]
        except KeyError as error:
            error.add_note(first)
            raise LookupError(first) from error
    except LookupError as error:
        raise ExceptionGroup(first, [ValueError(first), type(first, (ValueError,), {})(first)]) from error
    yield


@dataset
def typed(clean: Iterator[Note]) -> Iterator[Aged]:
    for note in clean:
        yield Aged(note.text)


@dataset
def validated(clean: Iterator[Note]) -> Iterator[Checked]:
    for note in clean:
        yield Checked.model_validate({"age": note.text, note.text: 1})


@dataset
def wide(clean: pa.Table) -> list[dict]:
    return [{value: 1, "age": value} for value in clean["text"].to_pylist()]


@dataset
def quits(clean: Iterator[dict]) -> Iterator[Note]:
    for row in clean:
        sys.exit(row["text"])
    yield


@dataset
def killed(clean: Iterator[Note]) -> Iterator[Note]:
    for note in clean:
        spill(note.text)
        os.kill(os.getpid(), 9)
    yield


@dataset
def ours(clean: Iterator[Note]) -> Iterator[Note]:
    for note in clean:
        raise FactoryError(note.text, found=note.text, expected=note.text, fix=note.text, code="red_checks")
    yield


@dataset
def red(clean: Iterator[Note]) -> Iterator[Note]:
    yield from clean


@dataset
def gone(raw: Path) -> Path:
    return Path(json.loads(raw.open().readline())["text"])
"""

GREEN = '''

@dataset
def columns(clean: pa.Table) -> pa.Table:
    """A table whose head is its first row."""
    first = clean["text"][0].as_py()
    return pa.table({first: [1], "age": [2], "deep": [{first: 3}]})


@dataset
def named(raw: Path) -> Path:
    """Files that are called as their patients."""
    Path("out").mkdir()
    for line in raw.open():
        row = json.loads(line)
        (Path("out") / f"{row['name']}.txt").write_text(row["text"])
    return Path("out")


@dataset
def read(named: Path) -> Iterator[Note]:
    for path in sorted(named.iterdir()):
        yield Note(path.read_text(), path.stem)
'''

CROSSING = """
from aifactory.datasets import crossing

ROLES = {"given": "given", "family": "family", "mrn": "id"}
crossed = crossing("ward", identifiers=ROLES)
uncrossed = crossing("ward", identifiers=ROLES, notes="broken.jsonl")
"""

CHECKS = '''
from collections.abc import Iterator

import pyarrow as pa

from aifactory.datasets import CheckResult, check


@check
def quotes(table: pa.Table) -> CheckResult:
    """Green, and says a value."""
    value = table["text"][0].as_py()
    print(value)
    return CheckResult(True, {value: 1, "seen": 2, value + "x": value}, value)


@check(blocking=False)
def warns(table: pa.Table) -> CheckResult:
    """Red, and says a value."""
    value = table["text"][1].as_py()
    return CheckResult(False, {value: 1}, f"row 2 is {value}")


@check(blocking=False)
def raises(table: pa.Table) -> bool:
    raise ValueError(table["text"][0].as_py()) from KeyError(table["text"][1].as_py())


@check
def stops(table: pa.Table) -> CheckResult:
    """Red and blocking, and says a value."""
    return CheckResult(False, {"seen": 1}, table["text"][0].as_py())
'''

RECIPE = """
from aifactory.spec import GPT, Mix, Train, recipe
from assets.MODULE import notes


@recipe(line="CLASS/models/small", suites=[notes.quiz])
def small() -> Train:
    return Train(model=GPT(layers=1, hidden=8, heads=1, context=32), mix=Mix.of({notes.ready: 1.0}), steps=2)
"""

CHAIN = ("raw", "clean", "parts", "bpe", "ready", "quiz")
GREEN_STAGES = ("columns", "named", "read")
FAILING = ("chained", "typed", "validated", "wide", "quits", "killed", "ours", "red", "gone")


def data(folder: Path) -> str:
    """The file of canaries, and its sha256."""
    lines = [
        json.dumps(
            {
                "text": f"{CANARIES[n % 3]} number {n}",
                "kind": CANARIES[n % 2],
                "name": f"{CANARIES[3]}_{n}",
            }
        )
        for n in range(ROWS)
    ]
    text = "\n".join(lines) + "\n"
    (folder / "notes.jsonl").write_text(text)
    return sha256(text.encode()).hexdigest()


def zone(folder: Path) -> None:
    """A restricted zone: a table with one canary, notes that quote it, and notes of which the second can't be read."""
    place = folder / "ward"
    place.mkdir(parents=True)
    for part in (folder, place):
        part.chmod(0o700)
    given, _, family = CANARIES[0].partition(" ")
    (place / "patients.csv").write_text(f"patient,given,family,mrn\n{family},{given},{family},{family}77\n")
    notes = [
        {"note": f"{given} {n}", "patient": family, "date": "2024-05-06", "text": f"{CANARIES[0]} came, day {n}."}
        for n in range(5)
    ]
    lines = [json.dumps(note) for note in notes]
    (place / "notes.jsonl").write_text("\n".join(lines))
    (place / "broken.jsonl").write_text("\n".join([lines[0], json.dumps({**notes[1], "date": CANARIES[1]})]))


def fill(lab: Lab, access: str, pin: str) -> None:
    """The dataset `notes` in this class."""
    faults = FAULTS.replace("@dataset\ndef red", "@dataset(checks=[stops()])\ndef red")
    text = NOTES.replace("SHA256", pin).replace("raises, warns", "raises, stops, warns") + faults + GREEN
    if access != "public":
        text += CROSSING
        lab.write("locks/crossing.lock", (CHECKOUT / "locks" / "crossing.lock").read_text())
    lab.write(f"assets/{access}/notes.py", text)
    lab.write("checks/notes.py", CHECKS)
