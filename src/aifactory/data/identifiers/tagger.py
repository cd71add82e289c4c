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
from aifactory.data.identifiers.joint import evidence, joined
from aifactory.data.identifiers.spans import Found
from aifactory.data.identifiers.words import LEADING

FILE = Path(__file__).parent / "weights.json"
KINDS = ("name", "address")
BARS = {"name": 0.6, "address": 0.7}
"""How likely a word has to be to be taken."""
BESIDE = 0.8
"""The share of that for a word beside one that is taken."""
DOUBTS = {("name", 5): 0.05, ("name", 6): 0.5, ("name", 7): 0.5, ("address", 8): 0.1}
"""What a rule of that kind and rank finds stays as it is, where no word of it is as likely as this."""
GENERATION = re.compile(r"[ ](?:II|III|IV|Jr|Sr|jun|sen)\b\.?")


@dataclass(frozen=True)
class Weights:
    """`small` words stand for themselves; a feature's weights, one for each of `KINDS` (log odds); what the `evidence`
    of a name weighs."""

    small: frozenset[str]
    of: Mapping[str, tuple[float, ...]]
    joint: tuple[float, ...]

    @classmethod
    @lru_cache(maxsize=1)
    def load(cls) -> Weights:
        """Those that stand beside this file; `python -m synthetic.clinic.learn` writes them."""
        held = json.loads(FILE.read_text("utf-8"))
        return cls(frozenset(held["small"]), {name: tuple(values) for name, values in held["weights"].items()},
                   tuple(held["joint"]))  # fmt: skip


@dataclass(frozen=True)
class Weighed:
    """A word of a note, and how likely it is part of a name, and of an address (0 to 1)."""

    word: Word
    name: float
    address: float


def weigh(text: str, gazetteer: Gazetteer, language: str, weights: Weights) -> Iterator[Weighed]:
    """Every run of letters, in order."""
    found = words(text, gazetteer, language)
    taken: list[Word] = []
    odds: list[list[float]] = []
    for n, word in enumerate(found):
        if word.number:
            continue
        sums = [0.0] * len(KINDS)
        for feature in features(found, n, language, weights.small):
            for k, value in enumerate(weights.of.get(feature, ())):
                sums[k] += value
        taken.append(word)
        odds.append(sums)
    for word, sums, row in zip(taken, odds, evidence(taken, [sums[0] for sums in odds]), strict=True):
        name = sum(weight * value for weight, value in zip(weights.joint, row, strict=True))
        yield Weighed(word, _share(name), _share(sums[1]))


def _share(odds: float) -> float:
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, odds))))


def find(text: str, weighed: Sequence[Weighed]) -> Iterator[Found]:
    """Words that are likely enough, those that stand together as one."""
    for kind in KINDS:
        likely = [getattr(one, kind) for one in weighed]
        taken = [value >= BARS[kind] for value in likely]
        for n in (*range(1, len(taken)), *reversed(range(len(taken) - 1))):
            for m in (n - 1, n + 1):
                if 0 <= m < len(taken) and taken[m] and joined(weighed[min(n, m)].word, weighed[max(n, m)].word):
                    taken[n] = taken[n] or likely[n] >= BARS[kind] * BESIDE
        first = 0
        while first < len(taken):
            last = first
            if taken[first]:
                while last + 1 < len(taken) and taken[last + 1] and joined(weighed[last].word, weighed[last + 1].word):
                    last += 1
                inside = weighed[first : last + 1]
                first = last + 1
                while kind == "name" and inside and inside[0].word.key in LEADING:
                    inside = inside[1:]
                if all(len(one.word.key) < 2 for one in inside):
                    continue
                start, end = inside[0].word.start, inside[-1].word.end
                if kind == "name" and (more := GENERATION.match(text, end)):
                    end = more.end()
                yield Found(start, end, kind, bare(text[start:end]), 7 if kind == "name" else 8)
            else:
                first += 1


def doubted(one: Found, weighed: Sequence[Weighed]) -> bool:
    """Whether what a rule found has no word that is likely enough, for a rule of that rank."""
    bar = DOUBTS.get((one.kind, one.rank))
    if bar is None or not weighed:
        return False
    inside = [w for w in weighed if one.start < w.word.end and w.word.start < one.end]
    return all(getattr(w, one.kind) < bar for w in inside)
