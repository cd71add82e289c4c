"""Evaluate: one checkpoint against all its suites."""

from __future__ import annotations

from pydantic import field_validator

from aifactory.spec.config import Config, Count, Whole, refuse
from aifactory.spec.mix import KeyText


class Evaluate(Config):
    """Keys of the `suites` (their versions and the checkpoint are inputs of the run spec), `batch` sequences per
    forward pass, CPU `threads`."""

    suites: tuple[KeyText, ...]
    batch: Count = 32
    seed: Whole = 0
    threads: Count = 1

    @field_validator("suites", mode="after")
    @classmethod
    def _sorted(cls, suites: tuple[str, ...]) -> tuple[str, ...]:
        if not suites or len(set(suites)) != len(suites):
            raise refuse(
                "Evaluate: suites must be named, each once",
                found=", ".join(suites) or "none",
                fix="name the recipe's suites, each once",
            )
        return tuple(sorted(suites))
