"""Schedule: the learning rate over the steps of a training."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from aifactory.spec.config import Config, Count, Real, Whole, refuse


class Schedule(Config):
    """Linear `warmup` (steps), then by `kind`: "cosine" falls to the minimum at the last step, "wsd" (warmup, stable,
    decay) falls over the last `decay` steps only, "constant" stays at the peak.

    `minimum` is a fraction of the optimizer's learning rate. `decay` belongs to "wsd" alone; left open, a tenth of
    the training.
    """

    kind: Literal["cosine", "wsd", "constant"] = "cosine"
    warmup: Whole = 0
    minimum: Annotated[Real, Field(ge=0, le=1)] = 0.1
    decay: Count | None = None

    @model_validator(mode="after")
    def _decay_belongs_to_wsd(self) -> Self:
        if self.decay is not None and self.kind != "wsd":
            raise refuse(
                "Schedule: decay is read by the kind wsd alone",
                found=f"kind={self.kind}, decay={self.decay}",
                fix="set schedule.kind to wsd, or schedule.decay to none",
            )
        return self

    def resolved(self, steps: int) -> Schedule:
        """Every open field filled in for a training of `steps` steps."""
        if self.kind != "wsd" or self.decay is not None:
            return self
        return self.evolve({"decay": max(1, min(steps // 10, steps - self.warmup))})
