"""Addresses that no table knows: streets with a number, postcodes, and towns by what stands around them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from aifactory.data.identifiers.fold import bare
from aifactory.data.identifiers.gazetteer import Gazetteer
from aifactory.data.identifiers.spans import Found
from aifactory.data.identifiers.words import ORDINARY

WORD = r"[A-ZÀ-ÖØ-Þ][\w'’.-]*"
ENGLISH = (
    "Street|St|Road|Rd|Lane|Ln|Avenue|Ave|Close|Drive|Court|Place|Way|Square|Terr"
    "ace|Gardens|Crescent|Grove|Hill|Row|Mews|Walk|Park|Boulevard|Blvd|Parade"
)
GERMAN = (
    "straße|strasse|str|weg|platz|allee|gasse|ring|ufer|damm|chaussee|steig|stieg|pfad|markt|berg|hof|graben|wall|park"
)
HOUSE = r"[1-9]\d{0,3}\s?[a-hA-H]?(?![\w])(?:\s?[-/]\s?\d{1,4}(?!\w))?"
STREETS = [
    re.compile(rf"\b(?:Flat \d+\w?, )?\d{{1,4}}[a-zA-Z]?,?\s(?:{WORD}\s){{1,3}}(?:{ENGLISH})\b\.?"),
    re.compile(
        r"\b\d{1,4}[a-z]?,?\s(?:[a-z'’-]+\s){1,2}(?:street|road|rd|lane|avenue|ave|drive|terrace|crescent)\b\.?"
    ),
    re.compile(rf"\b(?=[A-ZÄÖÜ])(?:[A-ZÄÖÜ][\wäöüß.]*[ -]){{0,3}}(?:[A-ZÄÖÜ][\wäöüß]*)?-?(?i:{GERMAN})\.?\s{HOUSE}"),
    re.compile(
        r"\b(?:Am|An der|An den|Im|In der|In den|Auf der|Auf dem|Zum|Zur|Unter den|"
        r"Hinter der)\s[A-ZÄÖÜ][a-zäöüß]{3,}\s\d{1,3}[a-h]?(?=\s?(?:,|in\b|\n|$)\s?(?:\d{5}|[A-ZÄÖÜ][a-z]))"
    ),
]
LIVES = re.compile(
    r"\b(?i:wohnt (?:in der|im|am|in)|wohnhaft:?(?: in der| im| am)?|anschrift:?|adresse:?|address:?|"
    r"lives at|residing at|living at|street:?|straße:?|home is)\s"
    rf"(?P<place>(?:\d{{1,4}}\w?,?\s)?(?:{WORD}[ -]){{0,3}}{WORD}(?:\s\d{{1,4}}\w?)?)(?=[,.;\n)]|$|\s\d{{5}})"
)
POSTCODE = re.compile(
    r"(?<![\w.,-])(?:(?:D|DE|A|AT|CH)-\s?)?\d{4,5}\s(?P<town>[A-ZÄÖÜ][a-zäöüß]{2,}(?:(?:[ -]|"
    r"[ ](?:am|an der|ob der|im|in)[ ])[A-ZÄÖÜ][a-zäöüß]+)?)"
)
ABROAD = re.compile(r"(?<![\w.,-])(?:D|DE|A|AT|CH)-\s?\d{4,5}\b(?:\s[A-ZÄÖÜ][\wäöüß-]+)?")
BRITISH = re.compile(r"\b(?:GIR\s?0AA|[A-Z]{1,2}\d[A-Z\d]?\s?\d[ABD-HJLNP-UW-Z]{2})\b")
ZIP = re.compile(r"\b[A-Z]{2}\s\d{5}(?:-\d{4})?\b|(?<![\w-])\d{5}-\d{4}(?![\w-])")
TOWN = r"[A-ZÀ-ÖØ-Þ][a-zà-öø-ÿß]{2,}(?:[ -](?:(?:am|an der|ob der|on|upon|under|le)[ -])?[A-ZÀ-ÖØ-Þ][a-zà-öø-ÿß]+){0,2}"
MOVES = re.compile(
    r"\b(?i:(?:lives?|living|lived|resides?|residing|settled|grew up|born|raised|based|staying|stays|"
    r"stayed|house|home|flat|cottage|farm|family|"
    r"relatives|friends|job|work(?:s|ed|ing)?|holiday|school|weekends?|place)\s(?:\w+\s){0,4}?(?:in|"
    r"near|outside|from|at)|"
    r"(?:moved?|moving|back|travel\w*|drove|driv\w+|flew|commut\w+|relocat\w+|returned|"
    r"went)\s(?:\w+\s){0,3}?(?:to|from|in)|"
    r"(?:comes?|came|flies|hails?|visiting|originally|native|arrived)\s(?:\w+\s){0,2}?(?:from|of)|town:?|city:?|"
    r"wohn(?:t|haft|te|ort)?:?(?: \w+){0,3}?(?: in)?|leb(?:t|en|te)(?: \w+){0,4}? in|aus|"
    r"stamm\w* aus|gebürtig aus|zog\w* nach|nach|umzug nach|"
    r"ort:?|geboren in|aufgewachsen in|arbeitet in)\s"
    rf"(?P<town>{TOWN})"
)
BEFORE = re.compile(
    r"\b(?i:in|aus|nach|bei|from|to|near|of|at|von|über|around|outside)\s$|[,/(]\s?$|\d{5}\s$", re.MULTILINE
)
SHAPED = re.compile(
    r"(?:ton|ham|bury|borough|burgh|ford|mouth|chester|cester|ville|shire|stead|wick|pool|haven|"
    r"field|bridge|minster|port|land|side|fort|view|worth|thorpe|hurst|"
    r"burg|hausen|heim|dorf|stadt|furt|ingen|bach|feld|kirchen|hafen|brück|leben|rode|walde|münde|münster)$"
)


STRONG = re.compile(r"(?i:liv|resid|settled|grew|born|raised|mov|relocat|originally|native|town|city|hails|flies)")
NEXT = re.compile(rf",[ ](?P<town>{TOWN})(?=[ \t]*(?:$|[,.;)]|[A-Z]{{1,2}}\d))", re.MULTILINE)
PARTS = re.compile(r"(?:New|Old|North|South|East|West|Lake|Port|Great|Little|Upper|Lower|Mount|Saint|St|Fort|Bad)$")


def find(text: str, gazetteer: Gazetteer, *, english: bool) -> Iterator[Found]:
    """Streets, postcodes with and without their town, and towns that are known or that somebody lives in."""
    for shape in (*STREETS, ABROAD, BRITISH, ZIP):
        for hit in shape.finditer(text):
            yield _found(text, hit.start(), hit.end())
            after = NEXT.match(text, hit.end()) if shape in STREETS else None
            if after and bare(after["town"].split(" ")[0]) not in ORDINARY | gazetteer.given:
                yield _found(text, after.start("town"), after.end("town"))
    for hit in POSTCODE.finditer(text):
        if len(re.findall(r"\d", hit.group())) == 5 or bare(hit["town"]) in gazetteer.towns:
            yield _found(text, hit.start(), hit.end())
    for hit in LIVES.finditer(text):
        if bare(hit["place"].split()[0]) not in ORDINARY:
            yield _found(text, hit.start("place"), hit.end("place"))
    for hit in MOVES.finditer(text):
        words = hit["town"].split(" ")
        first = bare(words[0])
        sure = first in gazetteer.towns or bare(hit["town"]) in gazetteer.towns or bool(SHAPED.search(first))
        sure = sure or (english and len(words) > 1 and bool(PARTS.match(words[0])) and bare(words[1]) not in ORDINARY)
        ordinary = first in ORDINARY and not sure
        if not ordinary and (sure or (english and STRONG.match(hit.group()))) and first not in gazetteer.given:
            yield _found(text, hit.start("town"), hit.start("town") + len(_town(hit["town"], gazetteer, english)))
    for hit in re.finditer(TOWN, text):
        town = _town(hit.group(), gazetteer, english)
        known = bare(town) in gazetteer.towns or (" " not in town and bool(SHAPED.search(bare(town))) and english)
        parts = town.split(" ")
        known = known or (
            english and len(parts) == 2 and bool(PARTS.match(parts[0])) and bare(parts[1]) not in ORDINARY
        )
        if (
            known
            and bare(town) not in gazetteer.given
            and bare(town) not in ORDINARY
            and BEFORE.search(text, max(0, hit.start() - 12), hit.start())
        ):
            yield _found(text, hit.start(), hit.start() + len(town), rank=8)


def _found(text: str, start: int, end: int, rank: int = 5) -> Found:
    return Found(start, end, "address", bare(text[start:end]), rank)


def _town(written: str, gazetteer: Gazetteer, english: bool) -> str:
    """The longest beginning that is a known town; in English else all of it, in German else its first word."""
    parts = [hit.start() for hit in re.finditer(r"[ -]", written)]
    for end in [len(written), *reversed(parts)]:
        if bare(written[:end]) in gazetteer.towns:
            return written[:end]
    return written if english else written.split(" ")[0]
