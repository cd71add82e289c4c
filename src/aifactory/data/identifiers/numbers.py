"""Numbers and addresses that no table knows, told by their labels and their length."""

from __future__ import annotations

import re
from collections.abc import Iterator

from aifactory.data.identifiers.spans import Found

LABEL = (
    r"MRN|record|patient|case|policy|insurance|member|account|SSN|passport|licen[cs]e|card|cover|wristband reads|ID|"
    r"IBAN|Fall|Pat|Vers|Versicherten|KV|Ausweis|Patienten|Konto|Karten|Kranken\w*"
)
WORDS = r"(?:[\s.-]*(?:id|no|number|nr|nummer|ref|code))?"
ID = re.compile(rf"\b(?i:{LABEL}){WORDS}[\s.:#]*(?P<value>(?:[A-Z]{{1,3}}[ -]?)?\d(?:[\d]|[ -](?=\d)){{4,}})")
PHONE = re.compile(
    r"\b(?i:tel|telephone|phone|fon|telefon|fax|mobile|mobil|cell|call|callback|rückruf|handy|unter|number|nummer|from)\b"
    r"[\s.:,#]*(?P<value>[+(]?\d[\d]*(?:[\s()./-]{1,2}\d+)*)"
)
LONG = re.compile(r"(?<![\w.,])(?:[A-Z]{1,2}\d{2}[ ]?)?[+(]?\d+(?:[ \n()./-]{1,2}\d+)*(?![\w]|[.,]\d)")
STREET = re.compile(
    r"\b\d{1,4}[a-z]?,?\s(?:[A-Z][\w'’-]+\s){1,3}(?:Street|St|Road|Rd|Lane|Ln|Avenue|Ave|Close|Drive|Court|Place|Way|Square)\b\.?"
    r"|\b(?:[A-ZÄÖÜ][\wäöüß-]*\s)?[A-ZÄÖÜ][\wäöüß-]*(?:straße|strasse|str\.|weg|platz|allee|gasse|ring|ufer|damm|chaussee)\s\d{1,4}\s?[a-z]?\b"
)
TOWN = re.compile(r"(?<![\d.,-])\d{5}\s[A-ZÄÖÜ][a-zäöüß]{2,}(?:[ -][A-ZÄÖÜ][a-zäöüß]+)?")


def find(text: str) -> Iterator[Found]:
    """Labelled numbers of at least five digits, any of nine digits and more, streets with a house number, towns with a
    postcode."""
    for shape, kind, fewest in ((ID, "id", 5), (PHONE, "phone", 6)):
        for hit in shape.finditer(text):
            if _digits(hit["value"]) >= fewest:
                yield Found(hit.start("value"), hit.end("value"), kind, hit["value"], 5)
    for hit in LONG.finditer(text):
        if 9 <= _digits(hit.group()) <= 24:
            kind = "phone" if hit.group()[0] in "+(0" else "id"
            yield Found(hit.start(), hit.end(), kind, hit.group(), 6)
    for shape in (STREET, TOWN):
        for hit in shape.finditer(text):
            yield Found(hit.start(), hit.end(), "address", hit.group(), 5)


def _digits(text: str) -> int:
    return sum(letter.isdigit() for letter in text)
