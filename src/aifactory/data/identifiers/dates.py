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
    r"|freitag|samstag|sonntag|sonnabend|mit|don|fre|sam|son|mon|die|mo|di|mi|do|fr|sa|"
    r"so)\b\.?,?\s(?:der |den |dem |the |on )?)?"
)
DAY, NUMBER = r"(?P<day>\d{1,2})", r"(?P<month>\d{1,2})"
YEAR = r"(?P<year>(?:19|20)\d{2}|\d{2})"
LONG = r"(?P<year>(?:18|19|20)\d{2})"
WORDS = "on|of|to|by|in|at|for|day|night|round|taken|since|from|until|till|before|after|due|dated|seen|am|vom|bis|zum|"
WORDS += "ab|seit|den|der|dem|für|um"
CUE = rf"(?:\b(?:{WORDS}|date|datum|review|clinic|termin|visit|next|nächste[rs]?)[:.]?\s)"
FIELD = r"(?:^|[|;(,\t]|[ ]{2})[ \t]?"
NOT_AFTER_NUMBERS = r"(?:(?<![\d.,/-])|(?<=\.\d{4}[-–/])|(?<=\.\d\d[-–/])|(?<=\.[-–/]))"
NO_UNIT = r"(?!\s?(?:%|°|[mµ]?[gl]\b|mm|cm|kg|mmol|mmhg|h\b|x\b|bar|of\b|pain|pts?\b|points|punkte|promille|uhr))"
SURE_DAY = r"(?P<day>0[1-9]|[12]\d|3[01])"
SURE_MONTH = r"(?P<month>0[1-9]|1[0-2])"
SHAPES = {
    "iso": rf"(?<![\d.]){LONG}([-/.]){NUMBER}\2{DAY}(?![\d])",
    "compact": rf"(?<!\d){LONG}(?P<month>0[1-9]|1[0-2])(?P<day>0[1-9]|[12]\d|3[01])(?!\d)",
    "numbers": rf"{WEEKDAY}{NOT_AFTER_NUMBERS}{DAY}([./-])\s?{NUMBER}\2\s?{YEAR}(?![\d]|[.,]\d)",
    "blanks": rf"(?<![\d.,]){DAY} {NUMBER} {LONG}(?!\d)",
    "words": rf"{WEEKDAY}(?<![\d.,]){DAY}(?:st|nd|rd|th)?\.?[\s-]?(?:of )?{MONTH}"
    rf"(?:,?[\s-]?['’]?{YEAR}(?![\d:]))?(?!\w)",
    "american": rf"{WEEKDAY}\b{MONTH}[\s-](?:the )?{DAY}(?:st|nd|rd|th)?(?:,?\s{LONG})?(?![\w])",
    "month": rf"\b{MONTH},? (?:of |im Jahr )?(?:{LONG}|['’](?P<short>\d\d))(?!\w)",
    "dots": rf"{WEEKDAY}{NOT_AFTER_NUMBERS}{DAY}\.\s?{NUMBER}\.(?!\d)",
    "first": rf"(?<![\d./-])(?P<whole>{SURE_DAY})\.(?=\s?[-/–+]\s?\d{{1,2}}\.{SURE_MONTH}\.)",
    "slash": rf"{CUE}(?P<whole>{WEEKDAY}{DAY}/{NUMBER})(?![\d/]){NO_UNIT}",
    "field": rf"{FIELD}(?P<whole>{SURE_DAY}/{SURE_MONTH})(?=[ \t]?(?:$|[|;,):]|-\s)){NO_UNIT}",
    "weekday": rf"(?P<whole>{WEEKDAY[:-1]}{DAY}[./]{NUMBER})(?![\d/]){NO_UNIT}",
    "open": rf"(?:{CUE}|{FIELD})(?P<whole>{WEEKDAY}{SURE_DAY}\.{SURE_MONTH})(?![\d/]|\.\d){NO_UNIT}",
    "numbered_month": rf"(?<![\d./-])(?P<month>0?[1-9]|1[0-2])[/.]{LONG}(?!\d)",
    "six": rf"(?:{CUE}|{FIELD}|^[^\d\n]{{0,20}}\s)(?P<whole>{SURE_DAY}{SURE_MONTH}(?P<year>\d\d))(?![\d./-])",
    # No day or month has such a number: a month of a year that is not far.
    "short": rf"(?<![\d./-])(?P<whole>(?P<month>0[1-9]|1[0-2])/(?P<year>1[36-9]|2[1-9]))(?![\d/]|[.,]\d){NO_UNIT}",
    "ordinal": r"\b(?:on|by|until|till|since|from|before|after) the (?P<whole>(?P<day>\d{1,2})(?:st|nd|rd|th))"
    r"(?!\w|\s(?:of|day|week|month|year|floor|attempt|time|visit|hour|line|dose|percentile|centile|decile|trimester))",
    "year": rf"(?:(?<=born in )|(?<=geboren )|(?<=Jahrgang )){LONG}(?!\d)",
}
COMPILED = {name: re.compile(shape, re.IGNORECASE | re.MULTILINE) for name, shape in SHAPES.items()}
OLDEST = 90
NEAR = 3 * 366


CUED = re.compile(rf"(?:\b(?:{WORDS}|und|and|datum|date)[:.]?\s|^|[|(])$", re.IGNORECASE)


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
        for name, shape in COMPILED.items():
            for hit in shape.finditer(text):
                group = "whole" if "whole" in shape.groupindex else 0
                start, end = hit.span(group)
                read = self._read(hit)
                if read is None:
                    if name in ("iso", "numbers", "words"):
                        yield Found(start, end, "date", hit.group(), 3)
                    continue
                day, order = read
                if name == "dots" and not _is_date(text, hit):
                    continue
                if name == "short" and not -1 <= self.on.year - day.year <= 12:
                    continue
                if name == "year" and not self._old(day):
                    continue
                # Six digits are a date only near the note's own.
                if name == "six" and abs((day - self.on).days) > NEAR:
                    continue
                yield Found(start, end, "date", day.isoformat(), 3, self._rewrite(hit, day, order, start, end))

    def _old(self, day: date) -> bool:
        return self.on.year - day.year - ((self.on.month, self.on.day) < (day.month, day.day)) >= OLDEST

    def _read(self, hit: re.Match[str]) -> tuple[date, str] | None:
        """The day that is meant, and the order of the two numbers; the reading that is nearer to the note's day."""
        groups = hit.groupdict()
        a = int(groups["day"]) if groups.get("day") else 15
        word = groups.get("word")
        alone = bool(groups.get("day")) and not word and not groups.get("month")
        # A day alone is one of the note's month; a year alone is read in its middle.
        b = NUMBERS[bare(word)] if word else int(groups.get("month") or (self.on.month if alone else 6))
        orders = [(a, b, "dm")]
        if (
            not word
            and not alone
            and groups.get("day")
            and not re.search(r"\d\.", hit.group())
            and not hit.group().startswith(groups.get("year") or "-")
        ):
            orders.append((b, a, "md"))
        found = []
        for day, month, order in orders:
            for year in self._years(groups.get("year") or groups.get("short")):
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

    def _rewrite(self, hit: re.Match[str], day: date, order: str, begin: int, finish: int) -> str:
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
        if groups.get("short"):
            values["short"] = f"{new.year}"[-2:]
        text = hit.string[begin:finish]
        for name in sorted(values, key=hit.start, reverse=True):
            if hit.start(name) >= finish:
                continue
            start, end = hit.start(name) - begin, hit.end(name) - begin
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
    if not hit.group()[0].isdigit() or CUED.search(text, max(0, hit.start() - 12), hit.start()):
        return True
    return len(hit["day"]) == 2 and len(hit["month"]) == 2
