"""Names that begin with a known first name: the first name, initials, and the family name beside it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from aifactory.data.identifiers.fold import bare, words_of
from aifactory.data.identifiers.terms import FAMILIES, is_term
from aifactory.data.identifiers.words import ORDINARY

WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
ALSO_WORDS = words_of("""
    will mark rose grace hope faith joy bill grant ray don spring dawn summer june april august can key val art
    rich pearl angel guy lane page red van dean earl major melody ernst wolf line ina sol aura gala crystal sky
    amber ruby olive ivy daisy violet lily basil ginger cherry candy penny jay drew chance chase miles dale glen
    cliff forest brook herb rusty sandy dusty clay reed marine heide helm trinity essence charity patience
    prudence destiny harmony sterling justice king prince duke baron royal gene rod honey sunny dick pierce
    trace skip buck chip colt gage hunter carter porter sawyer foster turner tanner iris cora star rain dick pat
    may linde come done else just mine tell win one run pin file job floor lang long lies loc made age ago are
    asset bin carry einer even nice sei take than tiny trees won said tage tat meine mein seid wen davor mir due
    anders drin haus see anti bliss edit kam des don nan rand ada aura nur gar davon darin andere allen wolfs
    mercy unity
""")
"""First names that are words too: they need a family name beside them, or a place in a sentence where a name stands."""
PARTICLE = r"(?:von|van|vom|zu|zum|de|der|den|del|di|da|el|al|bin|ter|ten)"
REST = re.compile(
    rf"(?:[ ](?:[A-Z]\.?(?=[ ][A-Z])))*(?:[ ]{PARTICLE}){{0,2}}[ ](?P<family>[A-ZÀ-ÖØ-Þ]"
    rf"(?:['’][A-Z])?[^\W\d_]+(?:-[A-ZÀ-ÖØ-Þ][^\W\d_]+)?)"
)
SECOND = re.compile(r"[ ](?P<family>[A-ZÀ-ÖØ-Þ][^\W\d_]+)(?=[ \t]*(?:[.,;:)/|]|$|[ ]\())", re.MULTILINE)
REVERSED = re.compile(
    r"(?:^|[:|;(/]|\s{2})[ \t]*(?P<family>[A-ZÀ-ÖØ-Þ][^\W\d_]+(?:[-'’][A-ZÀ-ÖØ-Þ][^\W\d_]+)?),?[ ]$", re.MULTILINE
)


def find(text: str, given: frozenset[str] | set[str], *, english: bool) -> Iterator[tuple[int, int]]:
    """Places of names whose first name is known."""
    upper = sum(letter.isupper() for letter in text) > 0.6 * max(1, sum(letter.isalpha() for letter in text))
    for hit in WORD.finditer(text):
        word, start, end = hit.group(), hit.start(), hit.end()
        if not word[0].isupper() or len(word) < 3 or (upper and not word.isupper()):
            continue
        key = bare(re.sub(r"['’]s$", "", word))
        known = (
            key in given or (key.endswith("s") and key[:-1] in given) or all(part in given for part in key.split("-"))
        )
        # Short words in capitals are abbreviations, unless all is in capitals.
        if (
            not known
            or (word.isupper() and len(word) < 5 and not upper and not _beside(text, start))
            or key in ORDINARY
            or is_term(text, word, end, first_name=True)
        ):
            continue
        genitive = key not in given and key.endswith("s")
        family = None if genitive else _family(text, REST.match(text, end), word.isupper())
        if (
            key in ALSO_WORDS
            and not family
            and not (english and re.search(r"[a-z][,;]?\s$", text[max(0, start - 4) : start]))
        ):
            continue
        if family:
            end = family
            if more := _family(text, SECOND.match(text, end), word.isupper()):
                end = more
        elif before := REVERSED.search(text, max(0, start - 40), start):
            ordinary = bare(before["family"]) in ORDINARY or is_term(text, before["family"], before.end("family"))
            start = start if ordinary else before.start("family")
        yield start, end


def _beside(text: str, start: int) -> bool:
    """Whether a family name in capitals stands before it."""
    return bool(re.search(r"[A-ZÄÖÜ]{3,},[ ]$", text[max(0, start - 30) : start]))


def _family(text: str, hit: re.Match[str] | None, upper: bool) -> int | None:
    """Where the family name ends, if that is one."""
    if (
        hit is None
        or (bare(hit["family"]) in ORDINARY and bare(hit["family"]) not in FAMILIES)
        or (hit["family"].isupper() and not upper and len(hit["family"]) < 4)
    ):
        return None
    return None if is_term(text, hit["family"], hit.end("family")) else hit.end("family")
