"""The method: everything that finds identifiers, put together, and what stands in their place."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date, timedelta

from aifactory.data.identifiers import addresses, ages, cues, known, numbers, tagger
from aifactory.data.identifiers.dates import Calendar
from aifactory.data.identifiers.fold import bare
from aifactory.data.identifiers.gazetteer import Gazetteer
from aifactory.data.identifiers.patterns import Patterns
from aifactory.data.identifiers.secret import Secret
from aifactory.data.identifiers.spans import Found, mask, settle
from aifactory.data.identifiers.table import Person, Table


@dataclass(frozen=True)
class Replaced:
    """text[start:end] of the original was an identifier of this kind."""

    start: int
    end: int
    kind: str


@dataclass(frozen=True)
class Result:
    """A pseudonymized text, and what was replaced in the original."""

    text: str
    replaced: tuple[Replaced, ...]


class Pseudonymizer:
    """Replaces identifiers by `[<kind>:<8 characters>]`, moves dates, caps ages.

    The same person, number or address has one pseudonym under one key, in every note. What is already a pseudonym is
    left as it is, so that names, numbers, addresses and ages of a published text stay when it is treated again; dates
    move each time.
    """

    def __init__(self, secret: Secret, table: Table, patterns: Patterns | None, gazetteer: Gazetteer | None = None):
        self.secret, self.table, self.patterns = secret, table, patterns
        self.gazetteer = gazetteer or Gazetteer()
        self.weights = tagger.Weights.load() if gazetteer else None

    def note(self, text: str, patient: str, on: date) -> Result:
        """One note of `patient` (an id of the table, or of nobody in it), written on the day `on`."""
        person = self.table.people.get(patient)
        words = frozenset(form for name in person.names() for form in {bare(name)}) if person else frozenset()
        calendar = Calendar(self.secret.shift(patient), on, words)
        hidden = mask(text)
        places = settle(text, self._find(hidden, person, calendar))
        parts, at = [], 0
        for one in places:
            parts += [text[at : one.start], self._new(one, calendar)]
            at = one.end
        parts.append(text[at:])
        return Result("".join(parts), tuple(Replaced(one.start, one.end, one.kind) for one in places))

    def patient(self, patient: str) -> str:
        """What stands for a patient's id."""
        return self.secret.pseudonym("patient", patient, 16)

    def day(self, patient: str, on: date) -> str:
        """The day of a patient's note in the calendar of what is published (ISO 8601)."""
        return (on + timedelta(days=self.secret.shift(patient))).isoformat()

    def _find(self, text: str, person: Person | None, calendar: Calendar) -> Iterator[Found]:
        english = cues.is_english(text)
        weighed = (
            list(tagger.weigh(text, self.gazetteer, "en" if english else "de", self.weights)) if self.weights else []
        )
        finders: list[Iterable[Found]] = [
            known.values(text, self.table, person),
            known.own_names(text, person) if person else (),
            known.other_names(text, self.table, person),
            calendar.find(text),
            ages.find(text),
            self.patterns.find(text) if self.patterns else (),
            numbers.find(text),
            *(
                (one for one in found if not tagger.doubted(one, weighed))
                for found in (
                    addresses.find(text, self.gazetteer, english=english),
                    cues.find(text, self.gazetteer, english=english),
                )
            ),
            tagger.find(text, weighed),
        ]
        found = [one for finder in finders for one in finder if "\0" not in text[one.start : one.end]]
        yield from found
        yield from ages.beside(text, sorted({one.end for one in found if one.kind == "name"}))

    def _new(self, one: Found, calendar: Calendar) -> str:
        if one.new is not None:
            return one.new
        if one.kind == "date" and one.rank == 0:
            return calendar.write(date.fromisoformat(one.who))
        if one.kind == "age":
            return "90+"
        return f"[{one.kind}:{self.secret.pseudonym(one.kind, bare(one.who))}]"
