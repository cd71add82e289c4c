"""Names that no table knows, told by what stands around them: titles, relations, roles, letters, signatures."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from aifactory.data.identifiers import fields, given
from aifactory.data.identifiers.fold import bare, words_of
from aifactory.data.identifiers.gazetteer import Gazetteer
from aifactory.data.identifiers.given import ALSO_WORDS
from aifactory.data.identifiers.spans import Found
from aifactory.data.identifiers.terms import is_term
from aifactory.data.identifiers.words import DONE, LEADING, ORDINARY, RELATION, ROLE, TITLE

NAME = r"[A-ZÀ-ÖØ-Þ](?:['’][A-Z])?[\wß]*[a-zß-öø-ÿ][\wß]*(?:-[A-ZÀ-ÞØ-Þ][\wß]+)?|[A-ZÀ-ÖØ-Þ]{4,}"
NEXT = rf"[ \t](?:(?:von|van|de|der|zu)\s)*(?:(?:{NAME})|[A-Z]\.(?=\s[A-Z]))"
FULL = rf"(?P<name>(?:(?:[A-Z]\.[ -]?){{1,3}}(?:{NAME})|[A-Z]{{1,2}}[ \t](?:{NAME})|(?:{NAME}))(?:{NEXT}){{0,2}})"
STAFF = r"OA|OÄ|CA|CÄ|AA|FA|FÄ|HA|HÄ|RN|SN|LPN|NP|EMT|Pfl|Sr|Dipl\.-Psych|Dipl\.-Päd"
SHAPES = [
    re.compile(rf"\b(?i:{TITLE})\b\.?(?:\s?(?:med|dent|rer|nat|phil|habil|Dr|Prof|PD|Koll\w*)\b\.?)*[ \t]{FULL}"),
    re.compile(rf"\b(?:{STAFF})\b\.?:?\s(?:Dr\.?\s(?:med\.\s)?)?{FULL}"),
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
PAIR = re.compile(rf"(?<=[\w,:;/(][ \t])(?<!\d[ \t])(?P<name>(?:[A-Z]\.\s?)?{DOUBLE}\s{DOUBLE}|[A-Z]\.\s?{LONG})(?!\w)")
SINGLE = re.compile(
    rf"(?<!\bthe)(?<!\ba)(?<!\ban)(?<=[a-z,;\"(])[ \t](?P<name>(?:[A-ZÀ-ÖØ-Þ]['’])?{LONG})"
    r"(?=['’]s\b|[.,;:)\"?!]|\s*$|[ \t](?:and|or|is|was|has|had|will|would|can|could|who|in|on|at|to|for|with|by"
    r"|from|but|as|the|a|her|his|about|[a-z]+s|[a-z]+ed)\b)",
    re.MULTILINE,
)
ENGLISH = re.compile(r"\b(?:the|and|with|for|was|of|is|her|his)\b")
GERMAN = re.compile(r"\b(?:der|die|das|und|mit|nicht|wurde|ist|vom|bei|am|im)\b")
SLASHED = re.compile(rf"\s?/\s?(?P<name>{DOUBLE})(?!\w)")
HEADED = re.compile(rf"^[^\n]{{0,40}}\d\d?[./-]\d\d?[./-][^\n(]{{0,10}}\((?P<name>{DOUBLE})\)", re.MULTILINE)
ACTS = re.compile(
    rf"(?:^|[.!?]\s+|->\s|[:;]\s)(?P<name>{DOUBLE})(?=\s(?:übernimmt|informiert|kümmert|meldet|bittet|"
    rf"ruft|rief|sagt|berichtet|"
    r"wünscht|möchte|meint|erzählt|fragt|besucht|besuchte|bringt|holt|begleitet|wohnt|arbeitet)\b)",
    re.MULTILINE,
)
AGENT = re.compile(r"\b(?:by|told|asked|informed|met|saw|with|contacted|phoned|rang|called|thanks|per|named)\s$")
ABBREVIATED = re.compile(r"(?:MR|MS|FR|HR|SR|PD)\b")
FIRST = re.compile(
    rf"(?:^|[.!?:]\s+|\n)(?P<name>{LONG}(?:\s{LONG})?)(?=\s(?:called|phoned|rang|said|says|reports|reported|told|asked|"
    r"agreed|agrees|thinks|feels|wants|wishes|worries|visited|brought|came|drove|lives|works|holds|helps|read|sat|"
    r"will "
    r"(?:call|ring|order|visit|bring|come|see|review|contact)|to (?:call|ring|review|chase|contact|"
    r"order|see|bring))\b)",
    re.MULTILINE,
)
INITIAL = re.compile(rf"(?<![\w.])(?<!\d )(?<!\bi\. )(?P<name>(?:[A-Z]\.[ -]?){{1,3}}{DOUBLE})(?!\w)")
LOWER = re.compile(
    r"\b(?:dr|prof|mr|mrs|ms|miss|herrn?|frau|fr|hr|schwester|sr|pfleger|nurse|rn)\b\.?[ ](?P<name>[a-zß-öø-ÿ]{3,})\b"
)
LOWER_GIVEN = re.compile(
    rf"\b(?:by|with|from|to|called|named|is|von|mit|durch|bei|heißt|told|and|und|{RELATION}|{ROLE}),?[ ]"
    r"(?P<given>[a-zß-öø-ÿ]{3,})(?P<family>[ ][a-zß-öø-ÿ]{3,}(?=[ \t]*(?:$|[.,;:()/\n])))?\b"
)
SIGNS = re.compile(
    r"(?:(?:[,/;–-]|\b(?:by|to|gez\.?|von|off|sign\w*))[ \t]*(?P<name>[A-ZÄÖÜ]{2,3})\s*\Z)"
    r"|(?:\b(?i:signed(?: off)?(?: by| to)?|init(?:ials|\.)?|hdz\.?|kürzel|gez\.)[:.]?[ ](?P<other>[A-ZÄÖÜ]{2})\b)"
)
SMALL = words_of("""
    the and for was has had her his she him they with from not who will can did does said says told asked seen
    came gave took went home here there about that this today again also but are all any may see per via und der
    die das den dem des ist war hat wird wurde mit von vom zum zur bei auf aus ein eine einer einem einen nicht
    sehr noch auch seit nach sich sie ihr ihm ihn sei habe will kann soll muss geht kommt klagt gibt lebt wohnt
    rief sagt meint
""")


def is_english(text: str) -> bool:
    """Whether more of its small words are English than German."""
    return len(ENGLISH.findall(text)) > len(GERMAN.findall(text))


def find(text: str, gazetteer: Gazetteer, *, english: bool) -> Iterator[Found]:
    """Names by their cues, and then every other place of the note where a word of such a name stands."""
    learned: set[str] = set()
    known = gazetteer.given

    def learn(one: Found) -> Found:
        learned.update(bare(word) for word in re.findall(r"[^\W\d_]{3,}", text[one.start : one.end]))
        return one

    for shape in SHAPES:
        for hit in shape.finditer(text):
            # `MR` and `MS` are diseases of the heart, `HR` its rate.
            if ABBREVIATED.match(hit.group()) and not (hit["name"].isupper() and len(hit["name"]) > 4):
                continue
            if one := _trim(text, hit.start("name"), hit.end("name"), surely=shape in SHAPES[:2]):
                yield learn(one)
                if (more := SLASHED.match(text, one.end)) and bare(more["name"]) not in ORDINARY:
                    yield learn(Found(more.start("name"), more.end("name"), "name", bare(more["name"]), 5))
    for start, end, surely in fields.find(text):
        first = bare(re.split(r"[\s,.-]", text[start:end])[0])
        if (surely or first in known) and (one := _trim(text, start, end, surely=False)):
            yield learn(one)
    for start, end in given.find(text, known, english=english):
        yield learn(Found(start, end, "name", bare(text[start:end]), 6))
    # English writes few other words with a capital letter; in German only an initial before it tells a name.
    for shape in (BY, PAIR, SINGLE, FIRST, HEADED) if english else (INITIAL, HEADED, ACTS):
        for hit in shape.finditer(text):
            if one := _trim(text, hit.start("name"), hit.end("name"), surely=False):
                first = bare(re.split(r"[\s.'’-]", text[one.start : one.end])[0])
                last = bare(re.split(r"[\s.'’-]", text[one.start : one.end].removesuffix("'s"))[-1])
                # Notes write drugs, wards and devices with a capital letter as well.
                if shape in (SINGLE, PAIR, BY) and not (
                    any(word in known or word in learned for word in (first, last))
                    or AGENT.search(text, max(0, one.start - 14), one.start)
                    or len(first) < 2
                ):
                    continue
                yield replace(one if shape is SINGLE else learn(one), rank=7)
    for hit in SIGNS.finditer(text):
        group = "name" if hit["name"] else "other"
        if bare(hit[group]) not in ORDINARY:
            yield Found(hit.start(group), hit.end(group), "name", bare(hit[group]), 7)
    yield from _lower(text, known)
    learned -= ALSO_WORDS
    for hit in re.finditer(r"[^\W\d_]{3,}", text):
        word = bare(hit.group())
        again = word in learned or (word.endswith("s") and word[:-1] in learned)
        if again and word not in ORDINARY and hit.group()[0].isupper():
            end = hit.end() + (2 if text[hit.end() : hit.end() + 2] in ("'s", "’s") else 0)
            yield Found(hit.start(), end, "name", word, 6)


def _lower(text: str, known: frozenset[str] | set[str]) -> Iterator[Found]:
    """Names in lower case: after a title any word, elsewhere a known first name after a word that names follow."""
    for hit in LOWER.finditer(text):
        if bare(hit["name"]) not in ORDINARY | SMALL:
            yield Found(hit.start("name"), hit.end("name"), "name", bare(hit["name"]), 5)
    for hit in LOWER_GIVEN.finditer(text):
        if bare(hit["given"]) in known and bare(hit["given"]) not in ALSO_WORDS | ORDINARY | SMALL:
            whole = hit["family"] and bare(hit["family"].strip()) not in ORDINARY | SMALL
            end = hit.end("family") if whole else hit.end("given")
            yield Found(hit.start("given"), end, "name", bare(text[hit.start("given") : end]), 5)


def _trim(text: str, start: int, end: int, *, surely: bool) -> Found | None:
    """The name without ordinary words and terms at its ends; None where nothing is left. After a title, one word is a
    name."""
    words = list(re.finditer(r"[^\s]+", text[start:end]))
    while len(words) > 1 and bare(words[0].group().strip(".,")) in LEADING:
        words.pop(0)
    if words and bare(words[0].group().strip(".,")) in LEADING:
        return None
    cut = len(words)
    for n, word in enumerate(words):
        plain = word.group().strip(".,")
        ordinary = bare(plain) in ORDINARY and not (word.group().endswith(".") and len(plain) < 2)
        if ordinary or (not surely and is_term(text, plain, start + word.start() + len(plain))):
            cut = n
            break
    words = words[: max(cut, 1) if surely else cut]
    if not words or all(len(word.group().strip(".")) < 2 for word in words):
        return None
    first, last = start + words[0].start(), start + words[-1].end()
    return Found(first, last, "name", bare(text[first:last]), 5)
