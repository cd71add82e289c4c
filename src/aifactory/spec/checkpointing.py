"""Checkpointing: after which steps a checkpoint is kept."""

from __future__ import annotations

from typing import Self

from pydantic import model_validator

from aifactory.spec.config import Config, Count, refuse


class Checkpointing(Config):
    """Either `every` n steps (and after the last one), or `count` checkpoints at even distances of which the last is
    the last step. Neither: one, after the last step."""

    every: Count | None = None
    count: Count | None = None

    @model_validator(mode="after")
    def _one_of_two(self) -> Self:
        if self.every is not None and self.count is not None:
            raise refuse(
                "Checkpointing: every and count exclude each other",
                found=f"every={self.every}, count={self.count}",
                fix="set checkpointing.every or checkpointing.count to none",
            )
        return self

    def steps(self, total: int) -> tuple[int, ...]:
        """The steps after which a checkpoint is saved, in order, counted from 1; the last is always `total`."""
        if self.every is not None:
            return (*range(self.every, total, self.every), total)
        count = self.count or 1
        return tuple(total * number // count for number in range(1, count + 1))
