"""Optimizer: how a gradient becomes a step."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from aifactory.spec.config import Config, Real

Positive = Annotated[Real, Field(gt=0)]
Beta = Annotated[Real, Field(ge=0, lt=1)]


class Optimizer(Config):
    """Adam with decoupled weight decay. `learning_rate` is the peak that the schedule scales; `clip` is the largest
    global gradient norm, 0 for no clipping."""

    learning_rate: Positive = 3e-3
    weight_decay: Annotated[Real, Field(ge=0)] = 0.1
    betas: tuple[Beta, Beta] = (0.9, 0.95)
    clip: Annotated[Real, Field(ge=0)] = 1.0
