"""Proves a training image on a cluster, end to end."""

import dagster as dg

from aifactory.orchestrate.smoking import SmokeConfig
from aifactory.orchestrate.smoking import smoke as run_smoke


@dg.op(name="smoke", description=run_smoke.__doc__)
def smoke_op(context: dg.OpExecutionContext, config: SmokeConfig) -> None:
    run_smoke(context, config)


@dg.graph
def smoking() -> None:
    smoke_op()


smoke = smoking.to_job(name="smoke", description=__doc__)
