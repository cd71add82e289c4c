"""Parallelism: over how many workers a training is spread, and how."""

from __future__ import annotations

from typing import Self

from pydantic import model_validator

from aifactory.spec.config import Config, Count, refuse


class Parallelism(Config):
    """`data` parallel workers; the other kinds have their final names but only the value 1 in this release."""

    data: Count = 1
    tensor: Count = 1
    pipeline: Count = 1
    expert: Count = 1

    @property
    def workers(self) -> int:
        """Processes that train together."""
        return self.data * self.tensor * self.pipeline

    @model_validator(mode="after")
    def _data_only(self) -> Self:
        for name in ("tensor", "pipeline", "expert"):
            if getattr(self, name) != 1:
                raise refuse(
                    f"Parallelism: {name} parallelism is not supported in this release",
                    found=f"{name}={getattr(self, name)}",
                    expected=f"{name}=1",
                    fix=f"set parallelism.{name} to 1 and spread by parallelism.data",
                )
        return self
