"""Words of a note are judged together: parts of one name stand beside each other, and names come again."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from aifactory.data.identifiers.features import Word

JOINED = frozenset({" ", "-", "'", "’", ".", ". "})
MOST = 8.0
"""Log odds beyond it count as it."""


def joined(one: Word, other: Word) -> bool:
    """Whether the words may be parts of one name: `other` comes next, with no line, number or comma between."""
    return other.before in JOINED and other.start - one.end <= 2


def evidence(found: Sequence[Word], odds: Sequence[float]) -> list[tuple[float, ...]]:
    """For each word of a note: 1, its own log odds, then whether there is one and its log odds: of the word joined
    before it, of the one joined after it, of the likeliest other place of the same word (or of its nominative)."""
    held = [max(-MOST, min(MOST, one)) for one in odds]
    places: dict[str, list[int]] = defaultdict(list)
    for n, word in enumerate(found):
        places[word.key].append(n)
    rows = []
    for n, word in enumerate(found):
        row = [1.0, held[n]]
        for m, near in ((n - 1, n > 0 and joined(found[n - 1], word)),
                        (n + 1, n + 1 < len(found) and joined(word, found[n + 1]))):  # fmt: skip
            row += [1.0, held[m]] if near else [0.0, 0.0]
        nominative = places.get(word.key[:-1], []) if word.key.endswith("s") else []
        again = [held[m] for m in (*places[word.key], *nominative) if m != n]
        row += [1.0, max(again)] if again else [0.0, 0.0]
        rows.append(tuple(row))
    return rows
