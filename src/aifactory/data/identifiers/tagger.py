"""Names and towns that no rule tells: every word is weighed, with weights that were learned from development notes."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from aifactory.data.identifiers.features import Word, features, words
from aifactory.data.identifiers.fold import bare
from aifactory.data.identifiers.gazetteer import Gazetteer
from aifactory.data.identifiers.spans import Found

FILE = Path(__file__).parent / "weights.json"
KINDS = ("name", "address")
BARS = {"name": 0.6, "address": 0.7}
"""How likely a word has to be to be taken."""
BESIDE = 0.6
"""The share of that for a word beside one that is taken."""
DOUBTED = 0.1
"""What a weak rule finds is left as it is, where no word of it is more likely than this."""
GENERATION = re.compile(r"[ ](?:II|III|IV|Jr|Sr|jun|sen)\b\.?")
JOINED = frozenset({" ", "-", "'", "’", ".", ". "})


@dataclass(frozen=True)
class Weights:
    """`small` words stand for themselves; a feature's weights, one for each of `KINDS` (log odds)."""

    small: frozenset[str]
    of: Mapping[str, tuple[float, ...]]

    @classmethod
    @lru_cache(maxsize=1)
    def load(cls) -> Weights:
        """Those that stand beside this file; `python -m synthetic.clinic.learn` writes them."""
        held = json.loads(FILE.read_text("utf-8"))
        return cls(frozenset(held["small"]), {name: tuple(values) for name, values in held["weights"].items()})


@dataclass(frozen=True)
class Weighed:
    """A word of a note, and how likely it is part of a name, and of an address (0 to 1)."""

    word: Word
    name: float
    address: float


def weigh(text: str, gazetteer: Gazetteer, language: str, weights: Weights) -> Iterator[Weighed]:
    """Every run of letters, in order."""
    found = words(text, gazetteer, language)
    for n, word in enumerate(found):
        if word.number:
            continue
        sums = [0.0] * len(KINDS)
        for feature in features(found, n, language, weights.small):
            for k, value in enumerate(weights.of.get(feature, ())):
                sums[k] += value
        yield Weighed(word, *(1 / (1 + math.exp(-max(-30.0, min(30.0, one)))) for one in sums))


def find(text: str, weighed: Sequence[Weighed]) -> Iterator[Found]:
    """Words that are likely enough, those that stand together as one."""
    for kind in KINDS:
        likely = [getattr(one, kind) for one in weighed]
        taken = [value >= BARS[kind] for value in likely]
        for n in (*range(1, len(taken)), *reversed(range(len(taken) - 1))):
            for m in (n - 1, n + 1):
                if 0 <= m < len(taken) and taken[m] and weighed[max(n, m)].word.before in JOINED:
                    taken[n] = taken[n] or likely[n] >= BARS[kind] * BESIDE
        first = 0
        while first < len(taken):
            last = first
            if taken[first]:
                while last + 1 < len(taken) and taken[last + 1] and weighed[last + 1].word.before in JOINED:
                    last += 1
                start, end = weighed[first].word.start, weighed[last].word.end
                if kind == "name" and (more := GENERATION.match(text, end)):
                    end = more.end()
                yield Found(start, end, kind, bare(text[start:end]), 7 if kind == "name" else 8)
            first = last + 1


def doubted(one: Found, weighed: Sequence[Weighed]) -> bool:
    """Whether a name by a weak rule has no word that is likely one."""
    if one.kind != "name" or one.rank < 6:
        return False
    return all(w.name < DOUBTED for w in weighed if one.start < w.word.end and w.word.start < one.end)
