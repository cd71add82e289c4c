"""The audit's own search for what the patient table knows. It shares no matcher with the method that it audits."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from datetime import date

TAG = re.compile(r"\[[a-z]+:[A-Z2-7]{8}\]")
SMALL = ("van", "von", "vom", "der", "den", "del", "dos", "das", "zum", "zur", "ter", "ten", "bin", "ibn")
"""Words of names that are words of their language too; the rest of the name is looked for."""
LENGTH = 6
"""Values with fewer letters and digits are looked for in the notes of their own patient only."""


def flat(text: str) -> str:
    """Lower case, accents and pseudonyms left out."""
    text = TAG.sub(" ", text).lower().replace("ß", "ss")
    return "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))


def squeezed(text: str) -> str:
    """Nothing but letters and digits."""
    return "".join(letter for letter in text if letter.isalnum())


MONTHS = "january february march april may june july august september october november december".split()  # noqa: SIM905
MONATE = "januar februar marz april mai juni juli august september oktober november dezember".split()  # noqa: SIM905
YEARS = 5
"""Of younger patients, the date of birth may be any other date that was moved."""


def days(born: date) -> re.Pattern[str]:
    """A date of birth, as people write it."""
    day, month = f"0?{born.day}", f"0?{born.month}"
    words = "|".join(dict.fromkeys((MONTHS[born.month - 1], MONTHS[born.month - 1][:3], MONATE[born.month - 1])))
    short = f"(?:{born.year}|{born.year % 100:02})"
    return re.compile(
        rf"(?<!\d)(?:{born.year}\W?{born.month:02}\W?{born.day:02}|{day}[./-]\s?{month}[./-]\s?{short}"
        rf"|{month}[/-]{day}[/-]{short}|{day}\W{{0,2}}(?:{words})\W{{0,2}}{born.year}"
        rf"|(?:{words})\W{day}\W{{1,2}}{born.year})(?!\d)"
    )


class Audit:
    """What must not stand in a published text. `people` are patients with their values by role and date of birth."""

    def __init__(self, people: Iterable[tuple[str, dict[str, tuple[str, ...]], date | None]]):
        self.born: dict[str, tuple[date, re.Pattern[str]]] = {}
        self.own: dict[str, list[tuple[str, re.Pattern[str]]]] = {}
        self.heads: dict[str, list[tuple[str, str]]] = {}
        self.pairs: dict[str, list[re.Pattern[str]]] = {}
        for patient, values, born in people:
            self._person(patient, values)
            if born is not None:
                self.born[patient] = (born, days(born))

    def _person(self, patient: str, values: dict[str, tuple[str, ...]]) -> None:
        own: list[tuple[str, re.Pattern[str]]] = []
        for role in ("given", "middle", "family"):
            for name in values.get(role, ()):
                words = [word for word in re.findall(r"[^\W\d_]+", flat(name)) if len(word) > 2 and word not in SMALL]
                own += [("name", re.compile(rf"(?<![^\W\d_]){word}(?![^\W\d_])")) for word in words]
        for role in ("city", "postcode"):
            for value in values.get(role, ()):
                own.append(("address", re.compile(rf"(?<!\w){re.escape(flat(value))}(?!\w)")))
        for role, kind in (("id", "id"), ("phone", "phone"), ("mail", "mail"), ("street", "address")):
            for value in values.get(role, ()):
                short = squeezed(flat(value))
                if role == "phone" and value.strip().startswith(("+", "00")):
                    # Without the country, as it is dialled at home.
                    groups = re.findall(r"\d+", value)
                    short = "".join(groups[1:]) or short
                if len(short) >= LENGTH:
                    self.heads.setdefault(short[:LENGTH], []).append((short, kind))
                elif short:
                    own.append((kind, re.compile(rf"(?<!\w){re.escape(flat(value))}(?!\w)")))
        self.own[patient] = own
        family = [flat(name) for name in values.get("family", ())]
        for given in map(flat, values.get("given", ())):
            for name in family:
                both = "|".join(rf"{re.escape(a)}[\s,]+{re.escape(b)}" for a, b in ((given, name), (name, given)))
                self.pairs.setdefault(name.split(" ")[-1], []).append(re.compile(rf"(?<!\w)(?:{both})(?!\w)"))

    def count(self, text: str, patient: str, on: date | None = None) -> Counter[str]:
        """How many known identifiers are left in one published text, by kind; `on` is the text's own date, moved."""
        found: Counter[str] = Counter()
        plain = flat(text)
        for kind, shape in self.own.get(patient, ()):
            found[kind] += len(shape.findall(plain))
        if on is not None and patient in self.born and on.year - self.born[patient][0].year > YEARS:
            found["date"] += len(self.born[patient][1].findall(plain))
        short = squeezed(plain)
        for at in range(len(short) - LENGTH + 1):
            for value, kind in self.heads.get(short[at : at + LENGTH], ()):
                found[kind] += short.startswith(value, at)
        for word in set(re.findall(r"[^\W\d_]+", plain)):
            for shape in self.pairs.get(word, ()):
                found["name"] += len(shape.findall(plain))
        return +found
