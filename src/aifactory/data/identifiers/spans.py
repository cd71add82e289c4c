"""Places in a text, and how overlapping ones are settled."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

KINDS = ("name", "id", "phone", "mail", "address", "date", "age")
TAG = re.compile(r"\[(?:name|id|phone|mail|address|date|age):[A-Z2-7]{8}\]|\[date:90\+\]")


@dataclass(frozen=True)
class Found:
    """An identifier at text[start:end]. `who` is what its pseudonym stands for; `rank` (low first) and length decide
    between overlapping ones; `new` is its replacement where that is no pseudonym."""

    start: int
    end: int
    kind: str
    who: str
    rank: int
    new: str | None = None


def mask(text: str) -> str:
    """The text with NUL in place of pseudonyms, so that nothing is found in them; positions stay."""
    return TAG.sub(lambda tag: "\0" * len(tag.group()), text)


def settle(text: str, found: Iterable[Found]) -> list[Found]:
    """Disjoint places that cover everything found: of two that overlap, the better one is whole and the other is cut
    to what is left of it."""
    taken: list[Found] = []
    for one in sorted(found, key=lambda one: (one.rank, one.start - one.end, one.start)):
        rest = [(one.start, one.end)]
        for other in taken:
            rest = [
                piece
                for start, end in rest
                for piece in ((start, min(end, other.start)), (max(start, other.end), end))
                if piece[0] < piece[1]
            ]
        for start, end in dict.fromkeys(rest):
            if any(letter.isalnum() for letter in text[start:end]):
                whole = (start, end) == (one.start, one.end)
                taken.append(one if whole else replace(one, start=start, end=end, new=None))
    return sorted(taken, key=lambda one: one.start)
