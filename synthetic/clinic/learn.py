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
from itertools import groupby

import numpy as np

from aifactory.data.identifiers.cues import is_english
from aifactory.data.identifiers.features import Word, features, words
from aifactory.data.identifiers.gazetteer import Gazetteer
from aifactory.data.identifiers.joint import evidence
from aifactory.data.identifiers.tagger import FILE, KINDS
from synthetic.clinic.people import people
from synthetic.clinic.render import MARK, render, templates

EACH = 10
"""Notes of each template."""
FOLDS = 4
"""Parts of the templates that are left out in turn, to learn how words are judged together."""
TEMPLATES = 3
"""A word stands for itself if so many templates have it."""


@dataclass
class Example:
    """A word: the features it has, and whether it is of each kind (None: it doesn't count)."""

    template: str
    note: int
    line: int
    word: Word
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
    made, note = [], 0
    for folder in folders:
        for template in templates(folder):
            for _ in range(EACH):
                note += 1
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
                        told = list(features(found, n, language, small))
                        made.append(Example(template.name, note, line, word, told, kinds))
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


def odds(weights: dict[str, list[float]], made: Sequence[Example]) -> np.ndarray:
    """Log odds, a row for each word and a column for each kind."""
    nothing = [0.0] * len(KINDS)
    return np.array([np.sum([weights.get(f, nothing) for f in one.features], axis=0) for one in made])


def left_out(made: Sequence[Example], folds: int, penalty: float) -> np.ndarray:
    """The odds of every word by weights that were learned without its template."""
    names = sorted({one.template for one in made})
    random.Random(0).shuffle(names)
    told = np.zeros((len(made), len(KINDS)))
    for fold in range(folds):
        out = set(names[fold::folds])
        there = np.array([one.template in out for one in made])
        kept = [one for one in made if one.template not in out]
        told[there] = odds(learn(kept, penalty=penalty), [one for one in made if one.template in out])
    return told


def together(made: Sequence[Example], told: np.ndarray) -> np.ndarray:
    """The evidence of every word, note by note; `told` are odds of names."""
    rows: list[tuple[float, ...]] = []
    for _, group in groupby(range(len(made)), key=lambda n: made[n].note):
        at = list(group)
        rows += evidence([made[n].word for n in at], [float(told[n]) for n in at])
    return np.array(rows)


def weigh_together(made: Sequence[Example], rows: np.ndarray, penalty: float = 0.1) -> np.ndarray:
    """What each evidence of a name weighs (Newton), not of templates of single lines: each is many notes in one."""
    use = np.array([one.kinds[0] is not None and "_lines_" not in one.template for one in made])
    wanted, rows = np.array([one.kinds[0] or 0.0 for one in made])[use], rows[use]
    at = np.zeros(rows.shape[1])
    for _ in range(25):
        likely = 1 / (1 + np.exp(-rows @ at))
        bend = (rows * (likely * (1 - likely))[:, None]).T @ rows + penalty * np.eye(len(at))
        at = at - np.linalg.solve(bend, rows.T @ (likely - wanted) + penalty * at)
    return at


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
    told = left_out(made, asked.folds or FOLDS, asked.penalty)
    rows = together(made, told[:, 0])
    joint = weigh_together(made, rows)
    if not asked.folds:
        weights = learn(made, penalty=asked.penalty)
        write(small, weights, joint)
        print(f"{FILE}: {len(weights)} weights, {len(small)} words, from {len(made)} words of notes")
        return
    shares = 1 / (1 + np.exp(-np.clip(np.column_stack([rows @ joint, told[:, 1:]]), -30, 30)))
    for k, kind in enumerate(KINDS):
        counts = np.array([one.kinds[k] is not None for one in made])
        there = np.array([bool(one.kinds[k]) for one in made])
        for bar in (0.3, 0.5, 0.7, 0.9):
            hits = (shares[:, k] >= bar) & counts
            right, all_hits = int((hits & there).sum()), int(hits.sum())
            print(
                f"{kind} at {bar}: recall {right / there.sum():.3f}, precision {right / max(1, all_hits):.3f} of words"
            )


def write(small: frozenset[str], weights: dict[str, list[float]], joint: np.ndarray) -> None:
    """One line for each feature, so that a change can be read."""
    lines = [
        f"{json.dumps(name, ensure_ascii=False)}:{json.dumps(of, separators=(',', ':'))}"
        for name, of in weights.items()
    ]
    FILE.write_text(
        f'{{\n"small":{json.dumps(sorted(small), ensure_ascii=False)},\n'
        f'"joint":{json.dumps([round(float(one), 3) for one in joint])},\n'
        '"weights":{\n' + ",\n".join(lines) + "\n}\n}\n",
        "utf-8",
    )


if __name__ == "__main__":
    main()
