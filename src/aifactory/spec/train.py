"""Train: everything that decides what a training learns, apart from the bytes it reads and the code it runs."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, field_validator, model_validator

from aifactory.namespace import Key
from aifactory.spec.batch import Batch
from aifactory.spec.checkpointing import Checkpointing
from aifactory.spec.config import Config, Count, Whole, refuse
from aifactory.spec.gpt import GPT
from aifactory.spec.mix import KeyText, Mix
from aifactory.spec.optimizer import Optimizer
from aifactory.spec.parallelism import Parallelism
from aifactory.spec.schedule import Schedule


class Train(Config):
    """What a recipe returns. `steps` are optimizer steps; `threads` are CPU threads of one worker (they change the
    order of sums, so they belong to the identity). `start` names a line, whose weights are what step 0 begins with: the
    version that it stands for is an input of the run spec; the optimizer and the data begin anew."""

    model: GPT
    mix: Mix
    steps: Count
    batch: Batch = Batch()
    optimizer: Optimizer = Optimizer()
    schedule: Schedule = Schedule()
    checkpointing: Checkpointing = Checkpointing()
    parallelism: Parallelism = Parallelism()
    precision: Literal["fp32", "bf16"] = "fp32"
    seed: Whole = 0
    threads: Count = 1
    # Left out where there is none, so that specs from before it keep their hashes.
    start: KeyText | None = Field(default=None, exclude_if=lambda line: line is None)

    @field_validator("start", mode="after")
    @classmethod
    def _starts_from_a_line(cls, start: str | None) -> str | None:
        if start is not None and not Key(start).is_line:
            raise refuse(
                "Train.start: weights come from a line of models",
                found=start,
                expected="a key such as public/models/tiny",
                fix="name the line; pin a version or a checkpoint of it when you launch",
            )
        return start

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        self._check_batch()
        warmup, decay, steps = self.schedule.warmup, self.schedule.decay or 0, self.steps
        if warmup + decay > steps:
            raise refuse(
                f"Train: schedule.warmup + schedule.decay must be at most steps: {warmup} + {decay} > {steps}",
                found=f"warmup={warmup}, decay={decay}",
                expected=f"at most {steps} in all",
                fix="shorten the warmup or the decay, or train for more steps",
            )
        for name, value in (("every", self.checkpointing.every), ("count", self.checkpointing.count)):
            if value is not None and value > steps:
                raise refuse(
                    f"Train: checkpointing.{name} must be at most steps: {value} > {steps}",
                    found=f"checkpointing.{name}={value}",
                    expected=f"at most {steps}",
                    fix=f"lower checkpointing.{name}, or train for more steps",
                )
        return self

    def _check_batch(self) -> None:
        sequences, micro, data = self.batch.sequences, self.batch.micro, self.parallelism.data
        unit = data * (micro or 1)
        if sequences % unit:
            spelled = f"{data} x {micro} = {unit}" if micro else f"{data}"
            named = "parallelism.data x batch.micro" if micro else "parallelism.data"
            raise refuse(
                f"Train: batch.sequences must be a multiple of {named} = {spelled}: "
                f"{sequences} % {unit} = {sequences % unit}",
                found=f"batch.sequences={sequences}",
                expected=f"a multiple of {unit}",
                fix=f"set batch.sequences to {sequences - sequences % unit or unit}, or change {named}",
            )

    def checkpoint_steps(self) -> tuple[int, ...]:
        """The steps after which a checkpoint is saved, in order, counted from 1; the last is the last step."""
        return self.checkpointing.steps(self.steps)

    def resolved(self, vocabulary: int) -> Train:
        """Every open field filled in, as a run spec wants it; `vocabulary` is the tokenizer's size in tokens."""
        checkpointing = self.checkpointing
        if checkpointing.every is None and checkpointing.count is None:
            checkpointing = Checkpointing(count=1)
        return self.evolve(
            {
                "model": self.model.resolved(vocabulary),
                "mix": self.mix.resolved(),
                "batch.micro": self.batch.micro or self.batch.sequences // self.parallelism.data,
                "schedule": self.schedule.resolved(self.steps),
                "checkpointing": checkpointing,
            }
        )

    def open_fields(self) -> tuple[str, ...]:
        """Dotted paths that `resolved` would still fill in; a run spec accepts none."""
        model = [f"model.{name}" for name in ("query_groups", "ffn", "vocabulary") if getattr(self.model, name) is None]
        batch = ["batch.micro"] if self.batch.micro is None else []
        decay = ["schedule.decay"] if self.schedule.kind == "wsd" and self.schedule.decay is None else []
        saved = self.checkpointing
        checkpointing = ["checkpointing.count"] if saved.every is None and saved.count is None else []
        return (*model, *batch, *decay, *checkpointing)
