"""Stages without a function of their own: split, tokenizer, tokenize, suite. Each carries a version set by hand."""

from __future__ import annotations

import math
from typing import Unpack

from aifactory.datasets.common import Common, make
from aifactory.datasets.stage import Stage
from aifactory.errors import FactoryError
from aifactory.spec import BitsPerByte, MultipleChoice

PARTS = ("train", "val", "test")


def split(
    stage: Stage | str,
    *,
    by: str,
    train: float = 0.9,
    val: float = 0.05,
    test: float = 0.05,
    seed: int = 0,
    **common: Unpack[Common],
) -> Stage:
    """Parts train, val and test of a table. Rows with the same value of the column `by` stay together, and a group's
    part depends on that value alone, so that new rows move no old row."""
    shares = {"train": float(train), "val": float(val), "test": float(test)}
    if any(not 0 <= share <= 1 for share in shares.values()) or not math.isclose(math.fsum(shares.values()), 1):
        raise FactoryError(
            "split: the shares are not a division into parts",
            found=shares,
            expected="fractions that sum to 1",
            fix="for example train=0.9, val=0.05, test=0.05",
            code="shares",
        )
    return make("split", {"stage": stage}, {"by": by, "seed": seed, **shares}, common)


def tokenizer(stage: Stage | str, *, vocabulary: int = 8192, text: str = "text", **common: Unpack[Common]) -> Stage:
    """A byte-level BPE tokenizer of at most `vocabulary` tokens, trained on the column `text` of the train part (of the
    whole, where the stage has no parts)."""
    if vocabulary < 257:
        raise FactoryError("tokenizer: the vocabulary is too small for bytes", found=vocabulary, expected=">= 257")
    return make("tokenizer", {"stage": stage}, {"vocabulary": vocabulary, "text": text}, common)


def tokenize(
    stage: Stage | str,
    *,
    tokenizer: Stage | str,
    text: str = "text",
    learn: str | None = None,
    id: str | None = None,
    group: str | None = None,
    **common: Unpack[Common],
) -> Stage:
    """Training-ready tokens of every part: `<part>/tokens-00000.{bin,idx}` and `<part>/docs.parquet`.

    `learn` is a column whose value ends the text: only these tokens carry loss (without it, all). `id` names the
    documents (without it, their row numbers); `group` is what parts must not share, the column that the stage was split
    by unless it is given.
    """
    if group is None and isinstance(stage, Stage) and stage.factory == "split":
        group = stage.parameters["by"]
    parameters = {"text": text, "learn": learn, "id": id, "group": group}
    return make("tokenize", {"stage": stage, "tokenizer": tokenizer}, parameters, common)


def suite(stage: Stage | str, *, scorer: MultipleChoice | BitsPerByte, **common: Unpack[Common]) -> Stage:
    """What every checkpoint is scored on: the test part of a stage (or a whole benchmark), and the scorer that reads
    it."""
    if not isinstance(scorer, MultipleChoice | BitsPerByte):
        raise FactoryError(
            "suite: this is not a scorer",
            found=type(scorer).__name__,
            expected="MultipleChoice(...) or BitsPerByte(...)",
            code="scorer",
        )
    return make("suite", {"stage": stage}, {"scorer": scorer.model_dump(mode="json")}, common)
