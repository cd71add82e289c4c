"""How much of what people marked was found, and how much of what was found they had marked. Numbers only."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from aifactory.data.identifiers.method import Replaced


@dataclass(frozen=True)
class Marked:
    """An identifier that somebody marked: text[start:end], its kind, whether the patient table knows it."""

    start: int
    end: int
    kind: str
    known: bool


@dataclass
class Measure:
    """Counts over notes, by kind: `marked` and `found` for (kind, known), `replaced` and `right` for a kind."""

    marked: Counter[tuple[str, bool]] = field(default_factory=Counter)
    found: Counter[tuple[str, bool]] = field(default_factory=Counter)
    replaced: Counter[str] = field(default_factory=Counter)
    right: Counter[str] = field(default_factory=Counter)

    def add(self, text: str, marked: Sequence[Marked], replaced: Iterable[Replaced]) -> list[Marked]:
        """Count one note; those that were missed. Found means that no letter or digit of it is left."""
        places = list(replaced)
        covered = bytearray(len(text))
        for one in places:
            covered[one.start : one.end] = b"\1" * (one.end - one.start)
            self.replaced[one.kind] += 1
            self.right[one.kind] += any(mark.start < one.end and one.start < mark.end for mark in marked)
        missed = []
        for mark in marked:
            whole = all(covered[n] or not text[n].isalnum() for n in range(mark.start, mark.end))
            self.marked[mark.kind, mark.known] += 1
            self.found[mark.kind, mark.known] += whole
            if not whole:
                missed.append(mark)
        return missed

    def recall(self, known: bool, kind: str | None = None) -> float:
        """Of what was marked, the share that was found; 1 where nothing was marked."""
        keys = [key for key in self.marked if key[1] == known and kind in (None, key[0])]
        total = sum(self.marked[key] for key in keys)
        return sum(self.found[key] for key in keys) / total if total else 1.0

    def precision(self, kind: str | None = None) -> float:
        """Of what was replaced, the share that overlaps something marked."""
        keys = [key for key in self.replaced if kind in (None, key)]
        total = sum(self.replaced[key] for key in keys)
        return sum(self.right[key] for key in keys) / total if total else 1.0
