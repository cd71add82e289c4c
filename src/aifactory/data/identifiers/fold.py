"""Spellings of one word that count as the same: case, umlauts, accents."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

WORD = re.compile(r"[^\W\d_]+")
RUN = re.compile(r"[^\W\d_]+|\d+")
TWO_LETTERS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "å": "aa", "ø": "oe", "æ": "ae"})


@lru_cache(maxsize=65_536)
def bare(text: str) -> str:
    """Lower case without accents: `Müller` -> `muller`."""
    parts = unicodedata.normalize("NFKD", text.casefold().replace("ø", "o").replace("æ", "ae"))
    return "".join(letter for letter in parts if not unicodedata.combining(letter))


@lru_cache(maxsize=65_536)
def forms(text: str) -> frozenset[str]:
    """The ways to write it in lower case without accents: `Müller` -> `muller` and `mueller`."""
    return frozenset({bare(text), bare(unicodedata.normalize("NFC", text).casefold().translate(TWO_LETTERS))})


def words_of(text: str) -> frozenset[str]:
    """The words of a list, bare."""
    return frozenset(bare(word) for word in text.split())


@dataclass(frozen=True)
class Token:
    """A run of letters or of digits at text[start:end]; `key` is its bare form."""

    start: int
    end: int
    text: str
    key: str


def tokens(text: str, pattern: re.Pattern[str] = RUN) -> list[Token]:
    """Runs of letters and runs of digits, in order."""
    return [Token(one.start(), one.end(), one.group(), bare(one.group())) for one in pattern.finditer(text)]


def compact(text: str) -> frozenset[str]:
    """The spellings of `text` with nothing but letters and digits left."""
    return frozenset("".join(RUN.findall(form)) for form in forms(text))


def near(one: str, other: str) -> bool:
    """Whether one slip parts them: a letter left out, added, changed, or two swapped."""
    if one == other:
        return True
    if abs(len(one) - len(other)) > 1:
        return False
    start = 0
    while start < min(len(one), len(other)) and one[start] == other[start]:
        start += 1
    a, b = one[start:], other[start:]
    if len(a) == len(b):
        return a[1:] == b[1:] or (len(a) > 1 and a[0] == b[1] and a[1] == b[0] and a[2:] == b[2:])
    return a[1:] == b if len(a) > len(b) else a == b[1:]
