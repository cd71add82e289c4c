"""`python -m synthetic.clinic.learn`: learn the weights of the tagger from the development templates.

Logistic regression over the features of every word, by name and by address. The same templates give the same weights.
`--folds N` measures on templates that were left out, and writes nothing.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta

import numpy as np

from aifactory.data.identifiers.cues import is_english
from aifactory.data.identifiers.features import features, words
from aifactory.data.identifiers.gazetteer import Gazetteer
from aifactory.data.identifiers.tagger import FILE, KINDS
from synthetic.clinic.people import people
from synthetic.clinic.render import MARK, render, templates

EACH = 10
"""Notes of each template."""
TEMPLATES = 3
"""A word stands for itself if so many templates have it."""


@dataclass
class Example:
    """A word: the features it has, and whether it is of each kind (None: it doesn't count)."""

    template: str
    line: int
    features: list[str]
    kinds: tuple[float | None, ...]


def small_words(folders: Sequence[str]) -> frozenset[str]:
    """Words outside of the marks, in several templates."""
    seen: Counter[str] = Counter()
    for folder in folders:
        for template in templates(folder):
            plain = MARK.sub(" ", template.text)
            seen.update({one.key for one in words(plain, Gazetteer(), template.lang) if not one.number})
    return frozenset(word for word, number in seen.items() if number >= TEMPLATES)


def examples(folders: Sequence[str], small: frozenset[str], gazetteer: Gazetteer, seed: int) -> list[Example]:
    """The words of notes whose people are not those of the example's zone."""
    chance = random.Random(f"learn {seed}")
    table, strangers = people(600, seed), people(900, seed + 1, oldest=70)
    made = []
    for folder in folders:
        for template in templates(folder):
            for _ in range(EACH):
                patient = chance.choice([one for one in table if one.lang == template.lang])
                others = [one for one in strangers if one.lang == template.lang]
                on = date(2023, 1, 1) + timedelta(days=chance.randrange(1000))
                text, spans = render(template, patient, others, on, chance)
                language = "en" if is_english(text) else "de"
                found = words(text, gazetteer, language)
                for n, word in enumerate(found):
                    if word.number:
                        continue
                    kind = next((s["kind"] for s in spans if s["start"] < word.end and word.start < s["end"]), "")
                    if kind in ("", "name", "address"):
                        # A street may be called after somebody: as a name, that counts as found too.
                        kinds = (None if kind == "address" else float(kind == "name"), float(kind == "address"))
                        line = text.count("\n", 0, word.start)
                        made.append(Example(template.name, line, list(features(found, n, language, small)), kinds))
    return made


def learn(
    made: Sequence[Example], *, fewest: int = 2, rounds: int = 300, penalty: float = 0.3
) -> dict[str, list[float]]:
    """Weights of each feature that so many lines of templates have, by Adam on the whole (deterministic)."""
    where: dict[str, set[tuple[str, int]]] = defaultdict(set)
    for one in made:
        for feature in set(one.features):
            where[feature].add((one.template, one.line))
    index = {name: n for n, name in enumerate(sorted(name for name, at in where.items() if len(at) >= fewest))}
    rows = np.concatenate([np.full(len(one.features), n) for n, one in enumerate(made)])
    flat = np.array([index.get(feature, -1) for one in made for feature in one.features])
    rows, flat = rows[flat >= 0], flat[flat >= 0]
    weights = []
    for k in range(len(KINDS)):
        wanted = np.array([0.0 if one.kinds[k] is None else one.kinds[k] for one in made])
        counts = np.array([float(one.kinds[k] is not None) for one in made])
        weights.append(_fit(rows, flat, wanted, counts, len(index), len(made), rounds, penalty))
    return {
        name: [round(float(of[n]), 3) for of in weights]
        for name, n in index.items()
        if any(abs(of[n]) >= 0.01 for of in weights)
    }


def _fit(
    rows: np.ndarray, flat: np.ndarray, wanted: np.ndarray, counts: np.ndarray, size: int, number: int, rounds: int,
    penalty: float,
) -> np.ndarray:  # fmt: skip
    at, mean, square = np.zeros(size), np.zeros(size), np.zeros(size)
    for n in range(1, rounds + 1):
        score = np.bincount(rows, at[flat], minlength=number)
        error = (1 / (1 + np.exp(-np.clip(score, -30, 30))) - wanted) * counts
        slope = np.bincount(flat, error[rows], minlength=size) / EACH + penalty * at
        mean = 0.9 * mean + 0.1 * slope
        square = 0.999 * square + 0.001 * slope**2
        at = at - 0.05 * (mean / (1 - 0.9**n)) / (np.sqrt(square / (1 - 0.999**n)) + 1e-8)
    return at


def scores(weights: dict[str, list[float]], made: Sequence[Example]) -> np.ndarray:
    """Probabilities, a row for each word and a column for each kind."""
    nothing = [0.0] * len(KINDS)
    sums = np.array([np.sum([weights.get(f, nothing) for f in one.features], axis=0) for one in made])
    return 1 / (1 + np.exp(-np.clip(sums, -30, 30)))


def main() -> None:
    """Write the weights, or measure by leaving templates out."""
    parser = argparse.ArgumentParser(prog="synthetic.clinic.learn", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--folds", type=int, default=0)
    parser.add_argument("--penalty", type=float, default=0.3)
    parser.add_argument("--folder", action="append", help="folders of templates (development)")
    asked = parser.parse_args()
    folders = asked.folder or ["development"]
    gazetteer, small = Gazetteer.load(), small_words(folders)
    made = examples(folders, small, gazetteer, 1_000)
    if not asked.folds:
        weights = learn(made, penalty=asked.penalty)
        held = {"small": sorted(small), "weights": weights}
        FILE.write_text(json.dumps(held, ensure_ascii=False, indent=0, separators=(",", ":")) + "\n", "utf-8")
        print(f"{FILE}: {len(weights)} weights, {len(small)} words, from {len(made)} words of notes")
        return
    names = sorted({one.template for one in made})
    random.Random(0).shuffle(names)
    marks: list[tuple[np.ndarray, Sequence[Example]]] = []
    for fold in range(asked.folds):
        out = set(names[fold :: asked.folds])
        kept, left = [one for one in made if one.template not in out], [one for one in made if one.template in out]
        marks.append((scores(learn(kept, penalty=asked.penalty), left), left))
    for k, kind in enumerate(KINDS):
        for bar in (0.3, 0.5, 0.7):
            pairs = [(p[k] >= bar, one.kinds[k]) for of, left in marks for p, one in zip(of, left, strict=True)]
            right = sum(hit and bool(is_so) for hit, is_so in pairs if is_so is not None)
            hits = sum(bool(hit) for hit, is_so in pairs if is_so is not None)
            there = sum(bool(is_so) for _, is_so in pairs)
            print(f"{kind} at {bar}: recall {right / there:.3f}, precision {right / max(1, hits):.3f} of words")


if __name__ == "__main__":
    main()
