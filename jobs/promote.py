"""Makes a checkpoint what its line stands for."""

import dagster as dg

from aifactory.orchestrate.promoting import PromoteConfig
from aifactory.orchestrate.promoting import promote as run_promotion


@dg.op(name="promote", description=run_promotion.__doc__)
def promote_op(context: dg.OpExecutionContext, config: PromoteConfig) -> None:
    run_promotion(context, config)


@dg.graph
def promotion() -> None:
    promote_op()


promote = promotion.to_job(name="promote", description=__doc__)
