"""The smoke of an image: a short training whose spec also names the suites that its last checkpoint is scored on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from aifactory.launch.plans.pins import NONE, Pins
from aifactory.launch.plans.resolve import Resolved, resolve_recipe
from aifactory.namespace import Namespace
from aifactory.project import Project
from aifactory.spec import (
    GPT,
    Batch,
    Checkpointing,
    InputRef,
    Mix,
    Optimizer,
    Parallelism,
    Recipe,
    RunSpec,
    Schedule,
    Train,
)

STEPS, EVERY, WORKERS = 20, 5, 2
LINE = "public/models/smoke"
"""Its checkpoints belong to no line; a recipe must name one."""


@dataclass(frozen=True)
class SmokeTarget:
    """Smoke an image with this public tokenized stage and these suites. Where, and with which image (the checkout's
    else), is asked for in the plan."""

    data: str
    suites: tuple[str, ...]

    def __str__(self) -> str:
        return "the smoke"


def resolve_smoke(target: SmokeTarget, ns: Namespace, project: Project, pins: Pins = NONE) -> Resolved:
    """A spec of kind smoke: what a training of that data resolves to, and the suites among its inputs, since the same
    run scores its checkpoint. Raises as `resolve_recipe`."""
    pins.no_resume(str(target))

    def smoke() -> Train:
        return training(target.data)

    recipe = Recipe(function=smoke, line=LINE, scored_on=target.suites)
    trained = resolve_recipe(recipe, {}, ns, project, pins)
    suites = cast(tuple[InputRef, ...], trained.context["suites"])
    inputs = (*trained.spec.inputs, *suites)
    return Resolved(RunSpec(kind="smoke", config=trained.spec.config, inputs=inputs, image=trained.spec.image), "smoke")


def training(data: str) -> Train:
    """Twenty steps on two workers with a checkpoint at every fifth one. The steps are long enough (a tenth of a second
    and more on a CPU) to be killed between two of them."""
    return Train(
        model=GPT(layers=2, hidden=64, heads=4, context=128),
        mix=Mix.of({data: 1.0}),
        steps=STEPS,
        batch=Batch(sequences=16),
        optimizer=Optimizer(learning_rate=3e-3),
        schedule=Schedule(warmup=2),
        checkpointing=Checkpointing(every=EVERY),
        parallelism=Parallelism(data=WORKERS),
    )
