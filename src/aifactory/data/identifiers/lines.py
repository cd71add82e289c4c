"""What the line says that a word stands in: a heading, a label and its value, a sentence, a row of capitals."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from aifactory.data.identifiers.fold import WORD, bare

LABEL = re.compile(r"\s*[\w /-]{1,30}:")
WORDS = 6
"""Longer lines are all the same."""


@dataclass(frozen=True)
class Line:
    """A line at text[start:end]: `form` (all capitals, begins with a label, ends with a colon), how many words it has,
    how many quarters of them are capitalized, whether it has a digit, its first word."""

    start: int
    end: int
    text: str
    form: str
    words: int
    quarters: int
    digit: bool
    first: str

    def edge(self, start: int, end: int) -> str:
        """Whether text[start:end] is the first of the line (f), the last (l), or in the middle (m)."""
        if not self.text[: start - self.start].strip():
            return "f"
        return "m" if self.text[end - self.start :].strip(" .,") else "l"


def lines(text: str) -> Iterator[Line]:
    """The lines of a note, in order; together they cover it."""
    start = 0
    for line in text.split("\n"):
        parts = line.split()
        capitals = sum(part[0].isupper() for part in parts) / max(1, len(parts))
        form = "U" * line.isupper() + "c" * bool(LABEL.match(line)) + "h" * line.rstrip().endswith(":")
        first = WORD.search(line)
        yield Line(
            start, start + len(line), line, form, min(len(parts), WORDS), int(capitals * 3.99),
            any(letter.isdigit() for letter in line), bare(first.group()) if first else "",
        )  # fmt: skip
        start += len(line) + 1
