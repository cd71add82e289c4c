"""Names that no table knows, told by what stands around them: titles, relations, roles, letters, signatures."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from aifactory.data.identifiers.fold import bare
from aifactory.data.identifiers.spans import Found
from aifactory.data.identifiers.table import Table

NAME = r"[A-ZÀ-ÖØ-Þ](?:['’][A-Z])?[\wß]*[a-zß-öø-ÿ][\wß]*(?:-[A-ZÀ-ÞØ-Þ][\wß]+)?|[A-ZÀ-ÖØ-Þ]{4,}"
FULL = rf"(?P<name>(?:(?:{NAME})|[A-Z]\.)(?:[ \t](?:(?:von|van|de|der|zu)\s)*(?:(?:{NAME})|[A-Z]\.(?=\s[A-Z]))){{0,2}})"
TITLE = r"(?:Dr|Prof|Mr|Mrs|Ms|Miss|Mx|Herrn?|Frau|Fr|Hr|Sister|Schwester|Pfleger|Nurse|RN|Matron|Kollegen?|Kollegin|PD)"
RELATION = (
    "wife|husband|spouse|mother|father|parents?|son|daughter|sister|brother|grandmother|grandfather|grandson|granddaughter|"
    "niece|nephew|aunt|uncle|cousin|partner|girlfriend|boyfriend|gf|bf|fiancée?|friend|neighbou?r|flatmate|carer|guardian|"
    "widow|widower|in-law|ehemann|ehefrau|frau|mann|mutter|vater|sohn|tochter|schwester|bruder|nichte|neffe|oma|opa|"
    "großmutter|großvater|enkelin|enkel|tante|onkel|cousine|nachbarin|nachbar|freundin|freund|partnerin|lebensgefährtin|"
    "lebensgefährte|betreuerin|betreuer|bevollmächtigter?|schwager|schwägerin|angehörige|children|kinder|twins"
)
ROLE = (
    "surgeon|physician|counsell?or|pharmacist|dietitian|gp|consultant|therapist|physiotherapist|midwife|doctor|teacher|lawyer|"
    "radiologist|landlord|hausarzt|hausärztin|arzt|ärztin|oberarzt|oberärztin|chefarzt|ansprechpartner|ansprechpartnerin|"
    "therapeut|therapeutin|hebamme|apotheker|apothekerin|praxis|visite|anwalt|lehrerin"
)
DONE = (
    "signed|seen by|reviewed by|dictated by|typed by|verified by|read by|written by|reported by|informed|told|spoke to|"
    "spoke with|discussed with|spoken to|call from|called to|caller|contact|handed over to|asked by|referred by|care of|"
    "asking for|accompanied by|validiert|gez\\.|unterschrieben|informiert|rückfragen an|gespräch mit|streit mit|"
    "besprochen mit|present|cc"
)
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
    re.compile(rf"{FULL}(?=(?:['’]s)?\s(?:called|phoned|rang|said|says|reports|states|telephoned|rief|berichtet|bittet)\b)"),
]
BY = re.compile(rf"\b(?:by|von|durch|to|with|from|for)\s{FULL}")
PAIR = re.compile(
    r"(?<=[\w,:;/(][ \t])(?P<name>(?:[A-Z]\.\s?)?[A-ZÀ-ÖØ-Þ][a-zß-öø-ÿ]{2,}(?:-[A-Z]\w+)?\s[A-ZÀ-ÖØ-Þ][a-zß-öø-ÿ]{2,}(?:-[A-Z]\w+)?"
    r"|[A-Z]\.\s?[A-ZÀ-ÖØ-Þ][a-zß-öø-ÿ]{2,})(?!\w)"
)
SINGLE = re.compile(
    r"(?<!\bthe)(?<!\ba)(?<!\ban)(?<=[a-z,;\"(])[ \t](?P<name>(?:[A-ZÀ-ÖØ-Þ]['’])?[A-ZÀ-ÖØ-Þ][a-zß-öø-ÿ]{2,})"
    r"(?=['’]s\b|[.,;:)\"?!]|\s*$|[ \t](?:and|or|is|was|has|had|will|would|can|could|who|in|on|at|to|for|with|by|from|but|as|the"
    r"|a|her|his|about|[a-z]+s|[a-z]+ed)\b)",
    re.MULTILINE,
)
ENGLISH = re.compile(r"\b(?:the|and|with|for|was|of|is|her|his)\b")
GERMAN = re.compile(r"\b(?:der|die|das|und|mit|nicht|wurde|ist|vom|bei|am|im)\b")
LOWER = re.compile(r"\bdr\.?\s(?P<name>[a-zß-öø-ÿ]{3,})\b")
ORDINARY = frozenset(
    bare(word)
    for word in (
        f"{RELATION}|{ROLE}".replace("|", " ").replace("?", "") + " "
        "The This That She He They It We You I In On At An A And Or But No Not Is Was Has Had His Her Their Our My Er Sie Es "
        "Die Der Das Den Dem Ein Eine Am Im Bei Mit Und Oder Nach Vor Zur Zum Vom Von Seit Wir Ich Ihr Seine Ihre Kein Keine "
        "Patient Patientin Patienten Pat Pt Dr Prof Med MD RN GP Mr Mrs Ms Miss Herr Herrn Frau Kollege Kollegin Doctor Nurse "
        "Phone Telephone Telefon Tel Fax Email Mail Mobile Cell Date Datum Address Anschrift Ward Station Clinic Klinik Plan "
        "Seen Signed Next Follow Continue Weight Blood Home Denies States Told Call Caller Please Thank Number Nummer Card "
        "Wohnung Haus Kind Kinder Familie Family Hospital Krankenhaus Reha Therapie Verband Termin Monday Tuesday Wednesday "
        "Thursday Friday Saturday Sunday Montag Dienstag Mittwoch Donnerstag Freitag Samstag Sonntag January February March "
        "April May June July August September October November December Januar Februar März Mai Juni Juli Oktober Dezember "
        "Emergency Department Time Room Reason Record Contact Husband Wife Mother Father Son Daughter Sister Brother Hilfe "
        "Fallnummer Visite Geschwister Nachbarin Barthel Kopie Ambulanz Entlassung Aufnahme Verlauf Befund Diagnosen Typ Grad "
        "Streptococcus Staphylococcus Escherichia Pseudomonas Klebsiella Candida Clostridium Helicobacter Mycobacterium "
        "English German French Spanish Italian Turkish Polish Russian Christmas Easter Parkinson Alzheimer Crohn Hodgkin "
        "Doppler Glasgow Foley Holter Babinski Romberg Lasègue Tourette Addison Cushing Hashimoto Basedow Europe Germany"
    ).split()
)


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
            after = re.compile(rf"\s(?:{NAME})\b").match(text, end) if word in table.given and word not in learned else None
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
