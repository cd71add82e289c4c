"""One written-down normal form of text, for comparing texts: equal forms are the same text to the factory."""

from __future__ import annotations

import hashlib
import re
import unicodedata

VERSION = 1
"""Rises whenever `normalize` gives another result for any text. Written beside every digest that is kept."""

# Unicode 15.0: category Cf (format: soft hyphen, zero-width, bidirectional, tags), the combining grapheme joiner and
# the variation selectors. A test compares this with `unicodedata`, which is too slow to scan at import.
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u2064\u2066-\u206f\ufe00-\ufe0f\ufeff\ufff9-\ufffb\U000110bd\U000110cd\U00013430-\U0001343f"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0001\U000e0020-\U000e007f\U000e0100-\U000e01ef]+"
)


def normalize(text: str) -> str:
    """Compatibility form (NFKC), without invisible characters, casefolded, runs of white space as one space, trimmed.

    Idempotent: `normalize(normalize(t)) == normalize(t)`. ASCII text, most of it in practice, takes a short path with
    the same result.
    """
    if text.isascii():
        return " ".join(text.lower().split())
    # Casefolding can undo the compatibility form and the other way round, so repeat until nothing changes.
    while (after := _once(text)) != text:
        text = after
    return text


def _once(text: str) -> str:
    text = _INVISIBLE.sub("", unicodedata.normalize("NFKC", text))
    return " ".join(unicodedata.normalize("NFKC", text.casefold()).split())


def text_digest(text: str) -> str:
    """sha256 of the normal form, 64 hex digits. Lone surrogates, which no file can hold, are digested as they are."""
    return hashlib.sha256(normalize(text).encode("utf-8", "surrogatepass")).hexdigest()
