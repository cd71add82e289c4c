"""The scorers with likelihoods made up, so without torch."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import pyarrow as pa
import pytest

from aifactory.data.bpe import BPE, train_bpe
from aifactory.errors import FactoryError
from aifactory.evaluate.scoring import Result, score
from aifactory.evaluate.suite import Suite
from aifactory.spec import BitsPerByte, MultipleChoice

BYTES = train_bpe(["a"], 257)
QUESTIONS = ["crushed hand", "burnt hand", "cholera", "measles"]
ANSWERS = ["Injury", "Injury", "Infectious disease", "Infectious disease"]


class Spelling:
    """A model that finds a choice the likelier the more of its letters the prompt has, and every token worth a bit."""

    def __init__(self, context: int = 100):
        self.context = context
        self.prompts: list[str] = []
        self.choices_seen: list[str] = []

    def documents(self, documents: Sequence[Sequence[int]]) -> Iterator[tuple[int, list[float]]]:
        for n in reversed(range(len(documents))):
            yield n, [-math.log(2)] * (len(documents[n]) - 1)

    def choices(
        self, prompts: Sequence[Sequence[int]], choices: Sequence[Sequence[int]]
    ) -> Iterator[tuple[int, list[float]]]:
        self.prompts = [BYTES.decode(prompt) for prompt in prompts]
        self.choices_seen = [BYTES.decode(choice) for choice in choices]
        for n in reversed(range(len(prompts))):
            # The prompt of an injury holds the letter n, and its choice is the shorter one.
            injury = "hand" in self.prompts[n]
            yield n, [-9.0 if injury else -1.0, -1.0 if injury else -2.0]


def chapters(scorer: MultipleChoice, model: Spelling, bpe: BPE = BYTES) -> Result:
    rows = pa.table({"description": QUESTIONS, "chapter": ANSWERS})
    return score(Suite("public/codes/chapters", scorer, rows), bpe, model, 0, lambda done, total: None)


def test_each_item_has_a_row_with_its_prompt_choices_scores_and_answer() -> None:
    model = Spelling()
    result = chapters(MultipleChoice(question="description", answer="chapter"), model)
    assert [row["item"] for row in result.rows] == [0, 1, 2, 3]
    first = result.rows[0]
    assert first["prompt"] == "crushed hand\nchapter: "
    assert first["choices"] == ["Infectious disease", "Injury"]
    assert first["scores"] == [-9.0, -1.0]
    assert first["scores_per_byte"] == pytest.approx([-9 / 18, -1 / 6])
    assert (first["answer"], first["prediction"], first["correct"]) == ("Injury", "Injury", True)
    # The space that ends the prompt goes to the choices, as their tokens were learned.
    assert model.prompts[0] == "crushed hand\nchapter:"
    assert model.choices_seen == [" Infectious disease", " Injury"]


def test_accuracy_stands_beside_its_interval_and_what_guessing_gives() -> None:
    result = chapters(MultipleChoice(question="description", answer="chapter"), Spelling())
    assert (result.metric, result.items, result.interval.value) == ("accuracy", 4, 1.0)
    assert 0 < result.interval.low < 1 == result.interval.high
    assert (result.extra["majority"], result.extra["uniform"], result.extra["choices"]) == (0.5, 0.5, 2.0)
    assert result.extra["accuracy_per_byte"] == 1.0


def test_items_bound_what_is_scored_and_progress_counts_it() -> None:
    scorer = MultipleChoice(question="description", answer="chapter", items=3)
    rows = pa.table({"description": QUESTIONS, "chapter": ANSWERS})
    seen: list[tuple[int, int]] = []
    suite = Suite("public/codes/chapters", scorer, rows)
    result = score(suite, BYTES, Spelling(), 0, lambda done, total: seen.append((done, total)))
    assert result.items == len(result.rows) == 3
    assert seen == [(1, 3), (2, 3), (3, 3)]


def test_a_prompt_longer_than_the_context_keeps_its_end_and_is_counted() -> None:
    model = Spelling(context=30)
    result = chapters(MultipleChoice(question="description", answer="chapter"), model)
    assert max(len(prompt) for prompt in model.prompts) == 30 - len(" Infectious disease")
    assert all(prompt.endswith("\nchapter:") for prompt in model.prompts)
    assert result.extra["cut_prompts"] == 4.0


@pytest.mark.parametrize(
    ("scorer", "context", "found"),
    [
        (MultipleChoice(question="title", answer="chapter"), 100, "description, chapter"),
        (MultipleChoice(question="chapter", answer="same"), 100, "description, chapter"),
        (MultipleChoice(question="description", answer="chapter"), 10, "tokens"),
    ],
)
def test_a_suite_that_can_not_be_scored_is_refused(scorer: MultipleChoice, context: int, found: str) -> None:
    with pytest.raises(FactoryError) as caught:
        chapters(scorer, Spelling(context))
    assert caught.value.code == "suite"
    assert found in str(caught.value.found)


def test_one_answer_is_no_choice() -> None:
    rows = pa.table({"q": ["a", "b"], "a": ["same", "same"]})
    suite = Suite("public/x/y", MultipleChoice(question="q", answer="a"), rows)
    with pytest.raises(FactoryError) as caught:
        score(suite, BYTES, Spelling(), 0, lambda done, total: None)
    assert caught.value.code == "suite"


def test_bits_are_counted_per_byte_of_what_follows_the_first_token() -> None:
    texts = ["abcd", "é1", "x", ""]
    suite = Suite("public/codes/heldout", BitsPerByte(text="text"), pa.table({"text": texts}))
    result = score(suite, BYTES, Spelling(), 0, lambda done, total: None)
    assert [(row["tokens"], row["bytes"], row["bits"]) for row in result.rows[:1]] == [(3, 3, pytest.approx(3.0))]
    # Both bytes of a character that the first token is a part of are left out: at worst a bit too many is counted.
    assert (result.rows[1]["tokens"], result.rows[1]["bytes"]) == (2, 1)
    assert result.rows[2]["bits_per_byte"] is None
    assert result.interval.value == pytest.approx(5 / 4)
    assert result.extra["bits_per_token"] == pytest.approx(1.0)
    assert result.items == 4
