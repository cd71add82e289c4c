"""Names that no table knows, told by what stands around them: titles, relations, roles, letters, signatures."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from aifactory.data.identifiers.fold import bare
from aifactory.data.identifiers.spans import Found
from aifactory.data.identifiers.table import Table
from aifactory.data.identifiers.words import DONE, ORDINARY, RELATION, ROLE, TITLE

NAME = r"[A-ZÀ-ÖØ-Þ](?:['’][A-Z])?[\wß]*[a-zß-öø-ÿ][\wß]*(?:-[A-ZÀ-ÞØ-Þ][\wß]+)?|[A-ZÀ-ÖØ-Þ]{4,}"
NEXT = rf"[ \t](?:(?:von|van|de|der|zu)\s)*(?:(?:{NAME})|[A-Z]\.(?=\s[A-Z]))"
FULL = rf"(?P<name>(?:(?:{NAME})|[A-Z]\.)(?:{NEXT}){{0,2}})"
SHAPES = [
    re.compile(rf"\b(?i:{TITLE})\b\.?(?:\s(?:med|Dr|Prof)\b\.?)*\s{FULL}"),
    re.compile(rf"\b(?i:{RELATION})\b(?:[,:(]|,?\s\(?)\s?{FULL}"),
    re.compile(rf"\b(?i:{ROLE})\b[:,]?\s{FULL}"),
    re.compile(rf"\b(?i:{DONE})[:,]?\s{FULL}"),
    re.compile(rf"\b(?:Dear|Hello|Hi|Liebe[r]?|Hallo)\s{FULL}"),
    re.compile(rf"(?im:^(?:\w+ )?(?:regards|sincerely|faithfully|grüßen|grüße|gruß),?)\s*\n\s*{FULL}"),
    re.compile(rf"{FULL}(?=,\s?(?:MD|RN|PhD|DO|FRCP|M\.D\.))"),
    re.compile(rf"{FULL}(?=\s\((?i:{RELATION}|{ROLE}|surgery|radiology|pathology|medicine|nursing|physiotherapy)\b)"),
    re.compile(rf"(?m:^)(?i:(?:.{{0,20}}\b)?(?:name|next of kin|emergency contact|physician|doctor|gp))\b[ .:]+{FULL}"),
    re.compile(
        rf"{FULL}(?=(?:['’]s)?\s(?:called|phoned|rang|said|says|reports|states|telephoned|rief|berichtet|bittet)\b)"
    ),
]
BY = re.compile(rf"\b(?:by|von|durch|to|with|from|for)\s{FULL}")
LONG = r"[A-ZÀ-ÖØ-Þ][a-zß-öø-ÿ]{2,}"
DOUBLE = rf"{LONG}(?:-[A-Z]\w+)?"
PAIR = re.compile(rf"(?<=[\w,:;/(][ \t])(?P<name>(?:[A-Z]\.\s?)?{DOUBLE}\s{DOUBLE}|[A-Z]\.\s?{LONG})(?!\w)")
SINGLE = re.compile(
    rf"(?<!\bthe)(?<!\ba)(?<!\ban)(?<=[a-z,;\"(])[ \t](?P<name>(?:[A-ZÀ-ÖØ-Þ]['’])?{LONG})"
    r"(?=['’]s\b|[.,;:)\"?!]|\s*$|[ \t](?:and|or|is|was|has|had|will|would|can|could|who|in|on|at|to|for|with|by"
    r"|from|but|as|the|a|her|his|about|[a-z]+s|[a-z]+ed)\b)",
    re.MULTILINE,
)
AFTER = re.compile(rf"\s(?:{NAME})\b")
ENGLISH = re.compile(r"\b(?:the|and|with|for|was|of|is|her|his)\b")
GERMAN = re.compile(r"\b(?:der|die|das|und|mit|nicht|wurde|ist|vom|bei|am|im)\b")
LOWER = re.compile(r"\bdr\.?\s(?P<name>[a-zß-öø-ÿ]{3,})\b")


def find(text: str, table: Table) -> Iterator[Found]:
    """Names by their cues, and then every other place of the note where a word of such a name stands."""
    learned: set[str] = set()
    for shape in SHAPES:
        for hit in shape.finditer(text):
            if one := _trim(text, hit.start("name"), hit.end("name"), surely=shape is SHAPES[0]):
                learned |= {bare(word) for word in re.findall(r"[^\W\d_]{3,}", text[one.start : one.end])}
                yield one
    english = len(ENGLISH.findall(text)) > len(GERMAN.findall(text))
    # English writes few other words with a capital letter; in German only two of them in a row tell a name.
    for shape in (BY, PAIR, SINGLE) if english else (PAIR,):
        for hit in shape.finditer(text):
            if one := _trim(text, hit.start("name"), hit.end("name"), surely=False):
                if shape is not SINGLE:
                    learned |= {bare(word) for word in re.findall(r"[^\W\d_]{3,}", text[one.start : one.end])}
                yield replace(one, rank=7)
    for hit in LOWER.finditer(text):
        if bare(hit["name"]) not in ORDINARY:
            yield Found(hit.start("name"), hit.end("name"), "name", bare(hit["name"]), 5)
    for hit in re.finditer(r"[^\W\d_]{3,}", text):
        word = bare(hit.group())
        known = word in learned or (word.endswith("s") and word[:-1] in learned) or word in table.given
        if known and word not in ORDINARY and hit.group()[0].isupper():
            end = hit.end() + (2 if text[hit.end() : hit.end() + 2] in ("'s", "’s") else 0)
            after = (
                re.compile(rf"\s(?:{NAME})\b").match(text, end) if word in table.given and word not in learned else None
            )
            if after and bare(after.group().strip()) not in ORDINARY and text.isascii():
                end = after.end()
            yield Found(hit.start(), end, "name", word, 6)


def _trim(text: str, start: int, end: int, *, surely: bool) -> Found | None:
    """The name without ordinary words at its ends; None where nothing is left. After a title, one word is a name."""
    words = list(re.finditer(r"[^\s]+", text[start:end]))
    ordinary = [bare(word.group().strip(".,")) in ORDINARY and not word.group().endswith(".") for word in words]
    cut = ordinary.index(True) if True in ordinary else len(words)
    words = words[: max(cut, 1) if surely else cut]
    if not words or all(len(word.group().strip(".")) < 2 for word in words):
        return None
    first, last = start + words[0].start(), start + words[-1].end()
    return Found(first, last, "name", bare(text[first:last]), 5)
