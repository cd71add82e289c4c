"""Dates: found in many spellings, and moved in the spelling that they have."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, timedelta

from aifactory.data.identifiers.fold import bare
from aifactory.data.identifiers.spans import Found
from aifactory.data.identifiers.words import ENGLISH_MONTHS as ENGLISH
from aifactory.data.identifiers.words import GERMAN_MONTHS as GERMAN

NUMBERS = {bare(name): n % 12 + 1 for n, name in enumerate(ENGLISH + GERMAN)}
NUMBERS |= {bare(name[:3]): n % 12 + 1 for n, name in enumerate(ENGLISH + GERMAN)} | {"sept": 9, "maerz": 3}
MONTH = rf"(?P<word>{'|'.join(sorted({*ENGLISH, *GERMAN, 'Maerz', 'Sept'}, key=len, reverse=True))}|"
MONTH += rf"{'|'.join(sorted({name[:3] for name in ENGLISH + GERMAN}))})\.?"
WEEKDAY = (
    r"(?:\b(?:(?:mon|tues?|wednes|thurs?|fri|satur|sun)(?:day)?|wed|thu|sat|montag|dienstag|mittwoch|donnerstag"
    r"|freitag|samstag|sonntag|mo|di|mi|do|fr|sa|so)\b,?\.?\s(?:der |den |dem )?)?"
)
DAY, NUMBER = r"(?P<day>\d{1,2})", r"(?P<month>\d{1,2})"
YEAR = r"(?P<year>(?:19|20)\d{2}|\d{2})"
LONG = r"(?P<year>(?:18|19|20)\d{2})"
CUE = r"(?<=(?:\bon|\bof|\bto|\bby|om|am|is|um|it|en|ue|il|ce|he)\s)"
SHAPES = [
    rf"(?<![\d.]){LONG}([-/.]){NUMBER}\2{DAY}(?![\d])",
    rf"(?<!\d){LONG}(?P<month>0[1-9]|1[0-2])(?P<day>0[1-9]|[12]\d|3[01])(?!\d)",
    rf"(?<![\d.,/-]){DAY}([./-])\s?{NUMBER}\2\s?{YEAR}(?![\d]|[.,]\d)",
    rf"(?<![\d.,]){DAY} {NUMBER} {LONG}(?!\d)",
    rf"{WEEKDAY}(?<![\d.,]){DAY}(?:st|nd|rd|th)?\.?[\s-]?(?:of )?{MONTH}(?:,?[\s-]?{YEAR}(?![\d:]))?(?!\w)",
    rf"{WEEKDAY}\b{MONTH}[\s-]{DAY}(?:st|nd|rd|th)?(?:,?\s{LONG})?(?![\w])",
    rf"\b{MONTH} (?:of |im Jahr )?{LONG}(?!\w)",
    rf"(?<![\d.,/]){DAY}\.{NUMBER}\.(?!\d)",
    rf"{CUE}{DAY}/{NUMBER}(?![\d/])",
    rf"(?:(?<=born in )|(?<=geboren )|(?<=Jahrgang )){LONG}(?!\d)",
]
COMPILED = [re.compile(shape, re.IGNORECASE) for shape in SHAPES]
OLDEST = 90


class Calendar:
    """How the dates of one note are moved: by `days`, seen from the day of the note."""

    def __init__(self, days: int, on: date, words: frozenset[str] = frozenset()):
        self.days, self.on = days, on
        # A month that is written like a name of the patient: dates are then written in digits.
        self.digits = bool(words & set(NUMBERS))

    def moved(self, day: date) -> date:
        """The day in the calendar of what is published."""
        return day + timedelta(days=self.days)

    def write(self, day: date) -> str:
        """A whole date, moved; one that gives away an age over 89 is no longer one."""
        return "[date:90+]" if self._old(day) else self.moved(day).isoformat()

    def find(self, text: str) -> Iterator[Found]:
        """Every date of the text with what is to stand there."""
        for rank, shape in enumerate(COMPILED):
            for hit in shape.finditer(text):
                read = self._read(hit)
                if read is None:
                    if rank in (0, 2, 4):
                        yield Found(hit.start(), hit.end(), "date", hit.group(), 3)
                    continue
                day, order = read
                if rank == 7 and not _is_date(text, hit):
                    continue
                if rank == len(COMPILED) - 1 and not self._old(day):
                    continue
                yield Found(hit.start(), hit.end(), "date", day.isoformat(), 3, self._rewrite(hit, day, order))

    def _old(self, day: date) -> bool:
        return self.on.year - day.year - ((self.on.month, self.on.day) < (day.month, day.day)) >= OLDEST

    def _read(self, hit: re.Match[str]) -> tuple[date, str] | None:
        """The day that is meant, and the order of the two numbers; the reading that is nearer to the note's day."""
        groups = hit.groupdict()
        a = int(groups["day"]) if groups.get("day") else 15
        word = groups.get("word")
        b = NUMBERS[bare(word)] if word else int(groups["month"]) if groups.get("month") else 6
        orders = [(a, b, "dm")]
        if (
            not word
            and groups.get("day")
            and "." not in hit.group()
            and not hit.group().startswith(groups.get("year") or "-")
        ):
            orders.append((b, a, "md"))
        found = []
        for day, month, order in orders:
            for year in self._years(groups.get("year")):
                try:
                    found.append((date(year, month, day), order))
                except ValueError:
                    continue
        return min(found, key=lambda one: (abs((one[0] - self.on).days), one[1]), default=None)

    def _years(self, written: str | None) -> list[int]:
        if written is None:
            return [self.on.year - 1, self.on.year, self.on.year + 1]
        if len(written) == 4:
            return [int(written)]
        return [year for year in (1900 + int(written), 2000 + int(written)) if year <= self.on.year + 2]

    def _rewrite(self, hit: re.Match[str], day: date, order: str) -> str:
        if self._old(day):
            return "[date:90+]"
        new = self.moved(day)
        if self.digits and hit.groupdict().get("word"):
            return new.isoformat() if hit.groupdict().get("day") else f"{new:%Y-%m}"
        groups = hit.groupdict()
        first, second = (new.day, new.month) if order == "dm" else (new.month, new.day)
        values: dict[str, str] = {}
        if groups.get("day"):
            values["day"] = str(first).zfill(len(groups["day"]))
        if groups.get("month"):
            values["month"] = str(second).zfill(len(groups["month"]))
        if groups.get("word"):
            values["word"] = _month(groups["word"], new.month)
        if groups.get("year"):
            values["year"] = f"{new.year}"[-len(groups["year"]) :]
        text = hit.group()
        for name in sorted(values, key=hit.start, reverse=True):
            start, end = hit.start(name) - hit.start(), hit.end(name) - hit.start()
            text = text[:start] + values[name] + text[end:]
        return text


def _month(word: str, month: int) -> str:
    german = bare(word) in {bare(name) for name in GERMAN} - {bare(name) for name in ENGLISH}
    german |= bare(word) in ("mai", "dez", "okt", "maerz")
    name = (GERMAN if german else ENGLISH)[month - 1]
    name = name[:3] if len(word) == 3 and bare(word) not in ("may", "mai") else name
    return name.upper() if word.isupper() else name.lower() if word.islower() else name


def _is_date(text: str, hit: re.Match[str]) -> bool:
    """Whether `17.04.` is one, and not a number at the end of a sentence."""
    if re.search(r"\b(?:am|vom|bis|zum|seit|ab|und|on|of|den)\s$", text[: hit.start()], re.IGNORECASE):
        return True
    return len(hit["day"]) == 2 and len(hit["month"]) == 2
