"""Scorers: how a suite reads its rows and turns a model's likelihoods into one number. Config only."""

from __future__ import annotations

import string
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from aifactory.spec.config import Config, Count, refuse

Name = Annotated[str, Field(min_length=1)]


class MultipleChoice(Config):
    """Accuracy: the choice (a distinct value of the column `answer`) that is likeliest after the prompt.

    `prompt` is filled with the column `question` as {question}; {answer} stands for the name of the answer's column.
    `items` is the most rows that are scored.
    """

    kind: Literal["multiple_choice"] = "multiple_choice"
    question: Name
    answer: Name
    items: Count = 400
    prompt: str = "{question}\n{answer}: "

    @model_validator(mode="after")
    def _prompt_is_a_template(self) -> Self:
        known = {"question", "answer"}
        try:
            names = {name for _, name, _, _ in string.Formatter().parse(self.prompt) if name is not None}
        except ValueError as error:
            names = {str(error)}
        if "question" not in names or names - known:
            raise refuse(
                "MultipleChoice: the prompt must hold {question}, and no other field than {question} and {answer}",
                found=repr(self.prompt),
                expected="{question}\\n{answer}: ",
                fix="name the question as {question}; write other braces twice",
            )
        return self


class BitsPerByte(Config):
    """Held-out bits per byte of the UTF-8 text in the column `text`; `items` is the most rows that are scored."""

    kind: Literal["bits_per_byte"] = "bits_per_byte"
    text: Name = "text"
    items: Count = 400


Scorer = Annotated[MultipleChoice | BitsPerByte, Field(discriminator="kind")]
