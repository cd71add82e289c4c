"""Trains a recipe (with overrides) or a frozen spec, on a cluster by name."""

import dagster as dg

from aifactory.orchestrate.training import TrainConfig
from aifactory.orchestrate.training import train as run_training


@dg.op(name="train", description=run_training.__doc__)
def train_op(context: dg.OpExecutionContext, config: TrainConfig) -> None:
    run_training(context, config)


@dg.graph
def training() -> None:
    train_op()


train = training.to_job(name="train", description=__doc__)
