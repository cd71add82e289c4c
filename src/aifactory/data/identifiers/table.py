"""What the patient table knows of a person."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date

from aifactory.data.identifiers.fold import WORD, compact, forms

ROLES = ("given", "middle", "family", "birth", "id", "phone", "mail", "street", "postcode", "city")
"""What a column of the patient table can be."""
KIND = {"id": "id", "phone": "phone", "mail": "mail", "street": "address"}
NAMES = ("given", "middle", "family")
PARTICLES = frozenset(
    [
        "von",
        "van",
        "vom",
        "zu",
        "zum",
        "zur",
        "de",
        "der",
        "den",
        "del",
        "della",
        "di",
        "da",
        "dos",
        "das",
        "du",
        "la",
        "le",
        "el",
        "al",
        "bin",
        "ibn",
        "ten",
        "ter",
    ]
)
SHORT = [("street", "st"), ("road", "rd"), ("avenue", "ave"), ("lane", "ln"), ("drive", "dr"), ("close", "cl")]


@dataclass(frozen=True)
class Person:
    """One row: values by role (several columns can have one role), and the date of birth."""

    id: str
    values: Mapping[str, tuple[str, ...]]
    birth: date | None = None

    def names(self, *roles: str) -> list[str]:
        """Single words of the names in these roles (all roles of names by default), particles left out."""
        return [word for word in self.words(*roles) if word.lower() not in PARTICLES]

    def words(self, *roles: str) -> list[str]:
        """The same with the particles."""
        return [word for role in roles or NAMES for name in self.values.get(role, ()) for word in WORD.findall(name)]


@dataclass(frozen=True)
class Known:
    """A value of the table as it may stand in a text: its kind, whose it is, and what its pseudonym stands for."""

    kind: str
    person: str
    who: str
    street: bool = False


@dataclass
class Table:
    """Every person by id; `everywhere` and `own` map compact spellings to what is looked for in all notes, and only in
    those of the person; `families` maps family names to the persons who bear them, `given` are first names of
    anybody;
    `longest` is the length of the longest spelling."""

    people: dict[str, Person]
    everywhere: dict[str, Known] = field(default_factory=dict)
    own: dict[str, dict[str, Known]] = field(default_factory=dict)
    families: dict[str, set[str]] = field(default_factory=dict)
    given: set[str] = field(default_factory=set)
    longest: int = 0
    _slips: dict[str, dict[str, tuple[tuple[str, Known], ...]]] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, people: Iterable[Person]) -> Table:
        """The table with its indexes."""
        table = cls({person.id: person for person in people})
        for person in table.people.values():
            own = table.own.setdefault(person.id, {})
            for role, values in person.values.items():
                for value in values:
                    table._add(person, own, role, value)
            if person.birth is not None:
                for how in ("%d%m%Y", "%m%d%Y", "%Y%m%d", "%d%m%y", "%m%d%y", "%y%m%d"):
                    own.setdefault(person.birth.strftime(how), Known("date", person.id, person.birth.isoformat()))
            for name in person.names("family"):
                for form in forms(name):
                    table.families.setdefault(form, set()).add(person.id)
            table.given |= {form for name in person.names("given") for form in forms(name) if len(form) > 3}
        spelled = [*table.everywhere, *(spelling for own in table.own.values() for spelling in own)]
        table.longest = max(map(len, spelled), default=0)
        return table

    def slips(self, person: str) -> dict[str, tuple[tuple[str, Known], ...]]:
        """Towns and streets of a person that are long enough to be told with a slip in them, by their first letter."""
        if person not in self._slips:
            found: dict[str, list[tuple[str, Known]]] = {}
            for spelling, known in self.own.get(person, {}).items():
                if known.kind == "address" and len(spelling) >= 6 and not spelling.isdigit():
                    found.setdefault(spelling[0], []).append((spelling, known))
            for value in self.people[person].values.get("street", ()):
                for spelling in spellings("street", value):
                    if len(spelling) >= 8:
                        known = Known("address", person, value, street=True)
                        found.setdefault(spelling[0], []).append((spelling, known))
            self._slips[person] = {letter: tuple(ones) for letter, ones in found.items()}
        return self._slips[person]

    def _add(self, person: Person, own: dict[str, Known], role: str, value: str) -> None:
        if role in KIND:
            known = Known(KIND[role], person.id, value, role == "street")
            for spelling in spellings(role, value):
                if len(spelling) >= 6:
                    self.everywhere.setdefault(spelling, known)
                elif spelling:
                    own.setdefault(spelling, known)
        elif role in ("postcode", "city"):
            for spelling in compact(value):
                own.setdefault(spelling, Known("address", person.id, value))


def spellings(role: str, value: str) -> set[str]:
    """Compact spellings of one value of the table."""
    found = set(compact(value))
    digits = re.sub(r"\D", "", value)
    if role == "id" and len(digits) >= 6:
        found.add(digits)
    if role == "phone":
        found = {digits}
        if country := re.match(r"\s*(?:\+|00)\s*(\d{1,3})(?=\D)", value):
            rest = digits.removeprefix("00")[len(country.group(1)) :]
            found |= {country.group(1) + rest, f"00{country.group(1)}{rest}", f"0{rest}", f"{country.group(1)}0{rest}"}
            if len(rest) >= 9:
                found.add(rest)
        elif digits.startswith("0"):
            found.add(digits[1:]) if len(digits) >= 10 else None
        else:
            found.add(f"1{digits}")
    if role == "street":
        for spelling in list(found):
            found |= {spelling.replace(long, short) for long, short in (*SHORT, ("strasse", "str"))}
            number = "".join(re.findall(r"\d+[a-z]?", spelling)[:1])
            found |= {s.removeprefix(number).removesuffix(number) for s in list(found)} if number else set()
        found = {spelling for spelling in found if len(spelling) >= 6}
    return found
