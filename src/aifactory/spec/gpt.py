"""GPT: the shape of a decoder-only transformer."""

from __future__ import annotations

from typing import Self

from pydantic import model_validator

from aifactory.spec.config import Config, Count, refuse


class GPT(Config):
    """Shape of the model. `context` is the length of a training sequence in tokens.

    Left open (None) until the spec is resolved: `query_groups` (then one per head), `ffn` (then 4 x hidden) and
    `vocabulary` (then the tokenizer's), so that a variant which changes `hidden` keeps the usual proportions.
    """

    layers: Count
    hidden: Count
    heads: Count
    context: Count
    query_groups: Count | None = None
    ffn: Count | None = None
    vocabulary: Count | None = None

    @model_validator(mode="after")
    def _divides(self) -> Self:
        if self.hidden % self.heads:
            raise refuse(
                f"GPT: hidden must be a multiple of heads: {self.hidden} % {self.heads} = {self.hidden % self.heads}",
                found=f"hidden={self.hidden}, heads={self.heads}",
                fix=f"set hidden to {self.hidden - self.hidden % self.heads or self.heads}, or change heads",
            )
        if self.query_groups is not None and self.heads % self.query_groups:
            raise refuse(
                "GPT: heads must be a multiple of query_groups: "
                f"{self.heads} % {self.query_groups} = {self.heads % self.query_groups}",
                found=f"heads={self.heads}, query_groups={self.query_groups}",
                fix="set query_groups to a divisor of heads, or to none",
            )
        return self

    def resolved(self, vocabulary: int) -> GPT:
        """Every open field filled in; refuses a `vocabulary` set by hand that is not the tokenizer's."""
        if self.vocabulary is not None and self.vocabulary != vocabulary:
            raise refuse(
                "GPT: the model's vocabulary is not the tokenizer's",
                found=f"vocabulary={self.vocabulary}",
                expected=f"{vocabulary} (the tokenizer of the mix)",
                fix="leave model.vocabulary out, so that it is taken from the tokenizer",
            )
        return self.evolve(
            {
                "vocabulary": vocabulary,
                "ffn": self.ffn or 4 * self.hidden,
                "query_groups": self.query_groups or self.heads,
            }
        )
