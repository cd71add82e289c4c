"""From a template to a note, and where its identifiers stand."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from synthetic.clinic.people import Person
from synthetic.clinic.spelling import Day

MARK = re.compile(r"<<(known|other) (\w+):(.*?)>>", re.DOTALL)
FOLDER = Path(__file__).parent / "templates"


@dataclass(frozen=True)
class Template:
    """One template: `text` with its marks, in a language."""

    name: str
    lang: str
    text: str


def templates(folder: str) -> list[Template]:
    """Those of one folder (`development` or `heldout`), by name."""
    found = []
    for path in sorted((FOLDER / folder).glob("*.txt")):
        head, _, text = path.read_text("utf-8").partition("\n")
        found.append(Template(path.stem, head.removeprefix("lang="), text))
    return found


class Days:
    """`day[-3]`: three days before the note."""

    def __init__(self, start: date, lang: str):
        self.start, self.lang = start, lang

    def __getitem__(self, days: object) -> Day:
        return Day(self.start + timedelta(days=int(str(days))), self.lang)


class Patient:
    """The patient as a template sees him: with an age on the day of the note."""

    def __init__(self, person: Person, on: date):
        self.person, self.years = person, person.age(on)

    def __getattr__(self, name: str) -> Any:
        return self.years if name == "age" else getattr(self.person, name)


def render(
    template: Template, patient: Person, others: list[Person], on: date, chance: random.Random
) -> tuple[str, list[dict[str, Any]]]:
    """The note, and its identifiers: start, end (characters), kind, and whether the patient table knows it."""
    r, r2, d, d2 = chance.sample(others, 4)
    names = {"p": Patient(patient, on), "r": r, "r2": r2, "d": d, "d2": d2, "day": Days(on, template.lang)}
    text, spans, at = "", [], 0
    for mark in MARK.finditer(template.text):
        text += template.text[at : mark.start()].format_map(names)
        who, kind, content = mark.groups()
        value = content.format_map(names)
        spans.append({"start": len(text), "end": len(text) + len(value), "kind": kind, "known": who == "known"})
        text, at = text + value, mark.end()
    return text + template.text[at:].format_map(names), spans
