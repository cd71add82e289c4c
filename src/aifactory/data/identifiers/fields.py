"""Names in forms, tables, lists and signatures: places where a line says by its form that a name stands there."""

from __future__ import annotations

import re
from collections.abc import Iterator

NAME = (
    r"(?:[A-ZÀ-ÖØ-Þ](?:['’][A-Z])?[\wß]*[a-zß-öø-ÿ][\wß]*(?:-[A-ZÀ-ÞØ-Þ][\wß]+)?|[A-ZÀ-ÖØ-Þ]{3,}(?:-[A-ZÀ-ÖØ-Þ]{3,})?)"
)
INITIALS = r"(?:[A-Z]\.?[ -]?){1,3}"
WHOLE = rf"(?:{INITIALS}\s?{NAME}|{NAME}(?:[ ](?:[A-Z]\.|(?:von|van|de|der|zu|da|el|al)|{NAME})){{0,3}})"
SORTED = rf"{NAME}(?:-{NAME})?,[ ]{NAME}(?:[ ](?:[A-Z]\.?|{NAME}))?"
VALUE = rf"(?P<name>{SORTED}|{WHOLE})"
END = r"(?=[ \t]*(?:$|[|;,/()\t]|[ ]{2,}|[ ][-–—]\s|\.(?:\s|$)|[ ](?:and|und|on|am|at|um)\b))"
AGENT = (
    r"(?:operat(?:or|eur\w*)|assist\w*|asst|sonographer|radiographer|clinician|interpreter|"
    r"witness\w*|crew|chair\w*|apologies|"
    r"author|provider|prescriber|reporter|dictated|transcri\w+|scribe|minutes|attendee\w*|present|"
    r"anwesend\w*|teilnehmer\w*|"
    r"entschuldigt|protokoll\w*|anästhesi\w*|an(?:a)?esthe\w+|instrumentier\w*|schreibbüro|schreibkraft|behandler\w*|"
    r"bearbeiter\w*|untersucher\w*|verfasser\w*|einsender|überweiser\w*|zuweiser|ansprech\w+|bezugs\w+|vertrauens\w+|"
    r"betreuer\w*|bevollmächtigte\w*|vorsorgebevoll\w+|kontakt(?:person)?|angehörige\w*|geburtsname|mädchenname|"
    r"(?:sur|fore|first|last|given|maiden|birth|family|middle|preferred|full|"
    r"nick)?\s?names?(?:\(s\))?|nachname|vorname\w*|"
    r"familienname|rufname|next of kin|nok|n\.o\.k\.|ice|(?:emergency )?contact|relative(?: present)?|carer|escort|"
    r"accompanied by|informant|historian|guardian|spouse|partner|consultant|surgeon|physician|doctor|nurse|midwife|"
    r"therapist|gp|pcp|attending|resident|registrar|intern|fellow|referr\w+|referred by|ref(?:\.|erred)? by|ordered by|"
    r"seen by|reviewed by|signed(?: by)?|signature|unterschrift|gez|sign|verified by|validated by|"
    r"validiert\w*|freigegeben\w*|"
    r"completed by|taken by|performed by|recorded by|prepared by|entered by|ausgefüllt von|"
    r"erstellt von|durchgeführt von|"
    r"arzt|ärztin|\w*(?:arzt|ärztin|pfleger|pflegerin|schwester|therapeut|therapeutin|berater|"
    r"beraterin|hebamme|apotheker\w*)|"
    r"operierende\w*|pflegekraft|fachkraft|dolmetscher\w*|fußpflege|pt|pat|patient\w*|client|"
    r"klient\w*|caller|anrufer\w*|"
    r"visite|dr|key worker|social worker|case manager|care manager|coordinator|named nurse|to|from|"
    r"cc|an|von|attn|z\.\s?hd\.?|"
    r"handed over to|übergabe an|übernommen von|responsible \w+|verantwortlich\w*|zuständig\w*)"
)
LABEL = (
    rf"(?:(?i:(?<![^\W\d_])(?:[\w-]+[ ]){{0,2}}?{AGENT}(?:['’]s)?(?: (?:signature|of patient|"
    rf"des patienten|name|clinician|by|von|\d\.?))?))"
)
LABELLED = re.compile(rf"{LABEL}[ \t]?(?::|\.{{3,}}|=|->)[ .\t]*{VALUE}{END}", re.MULTILINE)
LIST = re.compile(
    rf"(?:[ ]?\([^)\n]{{1,30}}\))?(?:[ ]?[,;/&+][ ]?|[ ](?:and|und|with|mit|sowie)[ ]){VALUE}{END}", re.MULTILINE
)
ARROW = re.compile(rf"(?:^|\s)(?:->|→|=>|//|--|[-–—])[ ]{VALUE}(?=[ \t]*(?:$|,|[ ][a-z]))", re.MULTILINE)
CLOSING = re.compile(
    r"(?im:^[ \t]*(?:(?:[\w,]+[ ]){0,4}(?:regards|wishes|sincerely|faithfully|truly|grüßen|grüße|"
    r"gruß|hochachtungsvoll)|yours|best|"
    r"thanks|thank you|cheers|many thanks|mfg|lg|vg|bg|signed|gez\.?|i\.\s?a\.|i\.\s?v\.|pp)[,.!]?[ \t]*\n\s*)" + VALUE
)
PREFIX = re.compile(
    r"(?im:^[ \t]*(?:gez\.?|signed|i\.\s?a\.|i\.\s?v\.|pp|p\.p\.|cc|bcc|f\.d\.r\.|erl\.)[:,]?[ ])" + VALUE
)
HEADS = re.compile(
    r"(?i:who|name|by|staff|nurse|doctor|dr|initials?|sign\w*|seen by|clinician|provider|author|"
    r"operator|hdz\.?|kürzel|arzt|"
    r"ärztin|pflege\w*|unterschrift|wer|durch|von|person|teilnehmer|contact|kontakt|consultant|"
    r"given by|checked by|handzeichen)"
)
CELL = re.compile(rf"{VALUE}(?=\s*(?:$|\())")


def find(text: str) -> Iterator[tuple[int, int, bool]]:
    """Places of names, and whether the place alone is enough to tell (else the name has to look like one)."""
    for shape in (LABELLED, CLOSING, PREFIX):
        for hit in shape.finditer(text):
            yield (*hit.span("name"), True)
            end = hit.end("name")
            while shape is LABELLED and (more := LIST.match(text, end)):
                yield (*more.span("name"), "/" in more.group()[: more.start("name") - more.start() + 1])
                end = more.end("name")
    for hit in ARROW.finditer(text):
        yield (*hit.span("name"), False)
    yield from ((start, end, True) for start, end in _cells(text))


def _cells(text: str) -> Iterator[tuple[int, int]]:
    """Cells of a table whose head says that names stand below it."""
    columns: set[int] = set()
    at = 0
    for line in text.split("\n"):
        starts = [0, *(hit.end() for hit in re.finditer(r"[|\t]", line))]
        if len(starts) > 1:
            cells = [(start, re.match(r"[^|\t]*", line[start:]).group()) for start in starts]  # type: ignore[union-attr]
            heads = {n for n, (_, cell) in enumerate(cells) if HEADS.fullmatch(cell.strip())}
            for n, (start, cell) in enumerate(cells):
                lead = len(cell) - len(cell.lstrip())
                if not heads and n in columns and (hit := CELL.match(cell, lead)):
                    yield at + start + hit.start("name"), at + start + hit.end("name")
            columns = heads or columns
        elif not line.strip():
            columns = set()
        at += len(line) + 1
