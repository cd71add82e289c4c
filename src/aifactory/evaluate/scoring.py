"""The two scorers: from the rows of a suite to a row per item and the figures. No torch: likelihoods are handed in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from aifactory.errors import FactoryError
from aifactory.evaluate.intervals import Interval, bootstrap_ratio, wilson
from aifactory.evaluate.sample import sample
from aifactory.evaluate.suite import Suite
from aifactory.spec import BitsPerByte, MultipleChoice


class Encoder(Protocol):
    """`aifactory.data.bpe.BPE`, as far as it is used here."""

    def encode(self, text: str) -> list[int]: ...
    def encode_offsets(self, texts: Sequence[str]) -> list[tuple[list[int], list[tuple[int, int]]]]: ...


class Scores(Protocol):
    """`aifactory.evaluate.likelihood.Likelihood`, as far as it is used here."""

    @property
    def context(self) -> int: ...
    def documents(self, documents: Sequence[Sequence[int]]) -> Iterator[tuple[int, list[float]]]: ...
    def choices(
        self, prompts: Sequence[Sequence[int]], choices: Sequence[Sequence[int]]
    ) -> Iterator[tuple[int, list[float]]]: ...


@dataclass(frozen=True)
class Result:
    """A suite's score: one metric with its interval, further figures by name, and a row per item."""

    metric: str
    interval: Interval
    items: int
    extra: dict[str, float] = field(default_factory=dict)
    rows: list[dict[str, Any]] = field(default_factory=list)


def score(suite: Suite, bpe: Encoder, model: Scores, seed: int, done: Callable[[int, int], None]) -> Result:
    """Score the suite; `done(items, total)` is called after each item."""
    match suite.scorer:
        case MultipleChoice():
            return _multiple_choice(suite, suite.scorer, bpe, model, done)
        case BitsPerByte():
            return _bits_per_byte(suite, suite.scorer, bpe, model, seed, done)


def _multiple_choice(
    suite: Suite, scorer: MultipleChoice, bpe: Encoder, model: Scores, done: Callable[[int, int], None]
) -> Result:
    questions, answers = suite.column(scorer.question), suite.column(scorer.answer)
    choices = sorted(set(answers))
    if len(choices) < 2:
        raise FactoryError(
            f"{suite.key}: nothing to choose from in the column {scorer.answer!r}",
            found=f"{len(choices)} distinct answer",
            expected="at least two",
            fix="name the column that holds the answers",
            code="suite",
        )
    chosen = sample([f"{q}\0{a}" for q, a in zip(questions, answers, strict=True)], scorer.items)
    prompts = [scorer.prompt.format(question=questions[n], answer=scorer.answer) for n in chosen]
    # Tokens hold the space before a word, so the space that ends a prompt is spoken by the choice.
    ended = [prompt.rstrip(" ") for prompt in prompts]
    space = " " if any(a != b for a, b in zip(prompts, ended, strict=True)) else ""
    spoken = [bpe.encode(space + choice) for choice in choices]
    room = model.context - max(len(tokens) for tokens in spoken)
    encoded = [bpe.encode(prompt) for prompt in ended]
    if room < 1:
        raise FactoryError(
            f"{suite.key}: a choice does not fit into the model's context",
            found=f"{model.context - room} tokens",
            expected=f"fewer than {model.context}",
            fix="score this suite on a model with a longer context",
            code="suite",
        )
    sizes = np.array([len(choice.encode()) for choice in choices], dtype=np.float64)
    rows: dict[int, dict[str, Any]] = {}
    for n, sums in model.choices([tokens[-room:] for tokens in encoded], spoken):
        per_byte = [float(value) for value in np.array(sums) / sizes]
        best, best_per_byte = int(np.argmax(sums)), int(np.argmax(per_byte))
        answer = answers[chosen[n]]
        rows[n] = {
            "item": chosen[n],
            "prompt": prompts[n],
            "choices": choices,
            "scores": [float(value) for value in sums],
            "scores_per_byte": per_byte,
            "answer": answer,
            "prediction": choices[best],
            "correct": choices[best] == answer,
            "correct_per_byte": choices[best_per_byte] == answer,
        }
        done(len(rows), len(chosen))
    items = [rows[n] for n in range(len(chosen))]
    right = sum(row["correct"] for row in items)
    common = Counter(row["answer"] for row in items).most_common(1)[0][1]
    by_length = wilson(sum(row["correct_per_byte"] for row in items), len(items))
    extra = {
        "accuracy_per_byte": by_length.value,
        "accuracy_per_byte_low": by_length.low,
        "accuracy_per_byte_high": by_length.high,
        "majority": common / len(items),
        "uniform": 1 / len(choices),
        "choices": float(len(choices)),
        "cut_prompts": float(sum(len(tokens) > room for tokens in encoded)),
    }
    return Result("accuracy", wilson(right, len(items)), len(items), extra, items)


def _bits_per_byte(
    suite: Suite, scorer: BitsPerByte, bpe: Encoder, model: Scores, seed: int, done: Callable[[int, int], None]
) -> Result:
    texts = suite.column(scorer.text)
    chosen = sample(texts, scorer.items)
    encoded = bpe.encode_offsets([texts[n] for n in chosen])
    rows: dict[int, dict[str, Any]] = {}
    for n, values in model.documents([ids for ids, _ in encoded]):
        text, (ids, offsets) = texts[chosen[n]], encoded[n]
        # Nothing predicts a document's first token, so its bytes don't count either.
        size = len(text[offsets[0][1] :].encode()) if ids else 0
        bits = -float(np.sum(values)) / float(np.log(2))
        rows[n] = {
            "item": chosen[n],
            "text": text,
            "tokens": len(values),
            "bytes": size,
            "bits": bits,
            "bits_per_byte": bits / size if size else None,
        }
        done(len(rows), len(chosen))
    items = [rows[n] for n in range(len(chosen))]
    spent, sizes = (np.array([float(row[name]) for row in items]) for name in ("bits", "bytes"))
    tokens = sum(row["tokens"] for row in items)
    if not sizes.any():
        raise FactoryError(
            f"{suite.key}: no text with more than one token in the column {scorer.text!r}",
            found=f"{len(items)} texts",
            expected="texts",
            fix="name the column that holds the text",
            code="suite",
        )
    extra = {
        "bits_per_token": float(spent.sum()) / tokens,
        "tokens": float(tokens),
        "bytes": float(sizes.sum()),
    }
    return Result("bits_per_byte", bootstrap_ratio(spent, sizes, seed), len(items), extra, items)
