"""Ages over 89, in digits and in words; all of them become 90+."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from aifactory.data.identifiers.spans import Found
from aifactory.data.identifiers.words import RELATION

DIGITS = r"(?:9\d|1[01]\d|12[0-5])"
UNITS = r"(?:one|two|three|four|five|six|seven|eight|nine|first|second|third|fourth|fifth|sixth|seventh|eighth|ninth)"
TEENS = r"(?:ten|eleven|twelve)"
ENGLISH = (
    rf"(?:(?:ninety|ninetieth)(?:[\s-]?{UNITS})?|(?:(?:a|one)"
    rf"[\s-])?hundred(?:th)?(?:[\s-](?:and[\s-])?(?:{UNITS}|{TEENS}))?)"
)
EINS = r"(?:ein|eins|zwei|drei|vier|fünf|fuenf|sechs|sieben|acht|neun)"
GERMAN = rf"(?:{EINS}und)?neunzig|(?:ein)?hundert(?:und)?(?:{EINS}|zehn|elf|zwölf)?"
NUMBER = rf"(?P<age>{DIGITS}|{ENGLISH}|{GERMAN})"
EDGE = r"(?<![\w.,/+:-])"
END = (
    r"(?![\w+%°/:]|[.,]\d|[\s-]?(?:kg|mm|cm|mg|ml|g|l|m|bpm|%|/|x|days?|months?|weeks?|hours?|mins?|"
    r"minutes?|degrees?|beats|units?|tage?n?|monate?n?|wochen?|stunden?|minuten?|schläge|grad|mmhg|"
    r"metres?|meters?|meter|euro)\b|\s?[%°])"
)
NO_DATE = r"(?!\.\s?\d)"
YEARS = (
    r"(?:years?|yrs?|y(?:ear)?s?[\s/.-]?o(?:ld)?s?|y\.o\.|y/o|jährig\w*|jaehrig\w*|jahren?|jahre|j\.|"
    r"lj\.?|lebensjahrs?|lebensjahres)"
)
BEFORE = (
    r"(?:(?:alive|well|living|independent|fit|going strong|driving) at|"
    r"aged?|age of|years of age|turn(?:ed|s|ing)?|lived to(?: be)?|alter:?|im alter von|age:|alter des \w+:|"
    r"(?:death|died|dies|passed(?: away)?|deceased|dead) (?:at|aged)|verstarb mit|werde|wurde|wird|geburtstag:?|"
    r"at the age of|reached)"
)
ABOUT = r"\s(?:(?:about|almost|nearly|over|ca\.|etwa|fast|von|to|the age of|age|just|even|gerade|über)\s){0,2}"
IS = (
    r"\b(?:he|she|who|mother|father|(?i:"
    + RELATION
    + (
        r")|er|sie)(?:,)?\s(?:is|was|sei|ist|war|now|jetzt)(?:\s(?:now|already|schon|bereits|jetzt|über|"
        r"over|almost|fast))?\s"
    )
)
SHAPES = [
    rf"{EDGE}{NUMBER}(?:\.|th|st|nd|rd)?[\s-]{{0,2}}(?={YEARS}(?!\w))",
    rf"{EDGE}{NUMBER}(?:\.)?\s(?=(?:birthday|geburtstag)\b)",
    rf"{EDGE}{NUMBER}(?:th|st|nd|rd)(?=\s(?:birthday|year)\b)",
    rf"\b{BEFORE}{ABOUT}{NUMBER}{END}{NO_DATE}",
    rf"{IS}{NUMBER}{END}{NO_DATE}(?=\s*(?:$|[.,;:)!?]|and\b|und\b|but\b|aber\b|years|now\b|years?\b))",
    (
        rf"\b(?:{RELATION}|pt|pat\.?|patient(?:in)?|man|woman|lady|gentleman|male|female|"
        rf"[mfw])\s?[,:(/]\s?\(?{NUMBER}(?=\s?(?:[),;/]|[mfw]\b|$))"
    ),
    rf"(?<![\w.,/+:-]){NUMBER}\s?(?=yo\b)",
    rf"(?<![\w.,/+:-]){NUMBER}(?=[mfwy]\b(?!/))",
    rf"{EDGE}{NUMBER}(?=\s(?:geworden|alt|old)\b)",
    rf"\bmit\s{NUMBER}{NO_DATE}(?=\s?[.,;)])",
    rf"\b(?:{RELATION})\s(?:of\s)?{NUMBER}{END}{NO_DATE}(?=\s*[.,;:)]|\s*$)",
]
DECADES = (
    (
        r"\b(?:(?:his|her|their)\s(?:early[\s-]|mid[\s-]?|"
        r"late[\s-])?)(?P<age>nineties|hundreds|90(?:['’]?s))\b"
    ),
    r"\b(?:anfang|mitte|ende)\s(?:der\s)?(?P<age>neunzig(?:er)?|90(?:er)?)\b(?!\s?(?:er)?-?jahre)",
    r"\b(?P<age>nonagenarian|centenarian|neunzigerin|hochneunzig(?:er(?:in)?)?)s?\b",
    r"\bin\s(?:seinen|ihren|den)\s(?P<age>neunzigern|90ern)\b",
)
SHAPES += [
    rf"\b(?:over|past|nearly|almost|about|around|approaching|shy of|über|fast|beinahe|knapp|gut|rund)\s{NUMBER}"
    rf"(?=[.,;)]|\s(?:now|and|und|but|ist|is)\b)(?!,\d)",
    rf"\b(?:will be|would be|'ll be|is turning|turns|turning)\s{NUMBER}{END}",
    rf"\b(?:wird|werde|wurde|würde)\s(?:im\s\w+\s|am\s[\d.]+\s|heute\s|bald\s|jetzt\s|nun\s|schon\s){{1,2}}{NUMBER}{END}{NO_DATE}",
    rf"{EDGE}{NUMBER}(?=[\s-]?(?:jähr\.|a\b(?=[,.;)])))",
    rf"\b(?:age|alter)(?:/sex|/geschlecht)?[:\s]\s?{NUMBER}(?=\s?/?\s?[mfw]?\b)(?!\+|[.,]\d|\s?(?:kg|mm|mg|%))",
    rf"\b[mfw]\s?[/,]\s?{NUMBER}(?![\w./,-])",
    rf"{EDGE}{NUMBER}\s?/\s?(?=[mfw]\b)",
    rf"\baet\.?\s{NUMBER}\b",
    rf"\b(?:his|her|their|ihren|seinen)\s{NUMBER}\s(?=years|jahren)",
]
ENDS = r"(?=\s*(?:$|[.,;:)!?])|\s(?:and|und|but|aber|now|years?|jahre|with|mit|still|he|she|er|sie)\b)"
SHAPES += [
    rf"\b(?:he|she|who|mum|mom|mother|dad|father|nan|gran|grandma|grandpa|aunt|uncle)(?:['’]s|['’]ll be|\sis)"
    rf"\s(?:now|only|just|already|a(?:\s\w+)?)?\s?{NUMBER}{END}{NO_DATE}{ENDS}",
    rf"\b(?:stolze|rüstige|fitte|inzwischen|mittlerweile|a (?:healthy|spry|fit|sprightly|frail)|ripe old age of)\s"
    rf"{NUMBER}{END}{NO_DATE}{ENDS}",
    rf"\b(?:{RELATION})\s{NUMBER}{END}{NO_DATE}(?=\s(?:alive|well|healthy|died|dead|lebt|gesund|gest|verst|dement|in|im)\b)",
    rf"\b(?:mother|father|mutter|vater|oma|opa|grandmother|grandfather|großmutter|großvater|m|f)\s?"
    rf"(?:†|gest\.|verst\.|d\.|died)\s?(?:mit\s|at\s|aged\s)?{NUMBER}{END}{NO_DATE}{ENDS}",
]
COMPILED = [re.compile(shape, re.IGNORECASE | re.MULTILINE) for shape in (*SHAPES, *DECADES)]
ONE_WORD = re.compile(rf"(?<![\w-])(?P<age>{GERMAN})(?P<rest>jährige?\w*|jaehrige?\w*)", re.IGNORECASE)


def find(text: str) -> Iterator[Found]:
    """Every age of 90 and more, to be written `90+`."""
    for shape in COMPILED:
        for hit in shape.finditer(text):
            yield Found(hit.start("age"), hit.end("age"), "age", "90+", 3, "90+")
    for hit in ONE_WORD.finditer(text):
        yield Found(hit.start(), hit.end(), "age", "90+", 2, f"90+-{hit['rest']}")


BESIDE = re.compile(r"(?:\s?\(|,\s|\s)(?P<age>9\d|1[01]\d)(?=\s?[),;/]|,|\.(?:\s|$)|\s(?:and|und)\b)")


def beside(text: str, ends: Iterable[int]) -> Iterator[Found]:
    """Ages that stand behind a name, in brackets or between commas."""
    for end in ends:
        if hit := BESIDE.match(text, end):
            yield Found(hit.start("age"), hit.end("age"), "age", "90+", 3, "90+")
