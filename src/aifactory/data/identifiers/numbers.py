"""Numbers that no table knows, told by their labels and their length."""

from __future__ import annotations

import re
from collections.abc import Iterator

from aifactory.data.identifiers.spans import Found

LABEL = (
    r"MRN|claim|reference|unit|hospital|chart|"
    r"record|patient|case|policy|insurance|member|account|SSN|passport|licen[cs]e|card|cover|wristband reads|ID|"
    r"IBAN|Fall|Pat|Vers|Versicherten|KV|Ausweis|Patienten|Konto|Karten|Kranken\w*"
)
WORDS = r"(?:[\s.-]*(?:id|no|number|nr|nummer|ref|code))?"
ID = re.compile(rf"\b(?i:{LABEL}){WORDS}[\s.:#]*(?P<value>(?:[A-Z]{{1,3}}[ -]?)?\d(?:[\d]|[ -](?=\d)){{4,}})")
PHONE = re.compile(
    r"\b(?i:tel|telephone|phone|fon|telefon|fax|mobile|mobil|cell|call|callback|rückruf|handy|unter|number|nummer|from)\b"
    r"[\s.:,#]*(?P<value>[+(]?\d[\d]*(?:[\s()./-]{1,2}\d+)*)"
)
LONG = re.compile(r"(?<![\w.,])(?:[A-Z]{1,2}\d{2}[ ]?)?[+(]?\d+(?:[ \n()./-]{1,2}\d+)*(?![\w]|[.,]\d)")

CODED = re.compile(r"(?<![\w-])(?!NCT)[A-Z]{1,4}-?\d{7,}(?![\w-])")
"""Letters and at least seven digits are somebody's number without a label too."""
TIMES = re.compile(r"(?:(?:[01]\d|2[0-3])[0-5]\d[ ]?){2,}")

TIMED = re.compile(r"(?:\d{1,4}([-/.])\d{1,2}\1\d{2,4}|\d{6}|\d{8})\s\d{2,4}")
"""A day and a time of it."""


def find(text: str) -> Iterator[Found]:
    """Labelled numbers of at least five digits, letters with seven, any of nine digits and more."""
    for shape, kind, fewest in ((ID, "id", 5), (PHONE, "phone", 6)):
        for hit in shape.finditer(text):
            if _digits(hit["value"]) >= fewest:
                yield Found(hit.start("value"), hit.end("value"), kind, hit["value"], 5)
    for hit in CODED.finditer(text):
        yield Found(hit.start(), hit.end(), "id", hit.group(), 6)
    for hit in LONG.finditer(text):
        if 9 <= _digits(hit.group()) <= 24 and not (
            TIMED.fullmatch(hit.group().strip()) or TIMES.fullmatch(hit.group())
        ):
            kind = "phone" if hit.group()[0] in "+(0" else "id"
            yield Found(hit.start(), hit.end(), kind, hit.group(), 6)


def _digits(text: str) -> int:
    return sum(letter.isdigit() for letter in text)
