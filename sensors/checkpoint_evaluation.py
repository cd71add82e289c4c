"""Asks for the evaluation of every new checkpoint."""

import dagster as dg

from aifactory.orchestrate.checkpoints import checkpoint_assets, new_evaluations
from aifactory.project import Project


@dg.sensor(
    job_name="evaluate",
    minimum_interval_seconds=2,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description=__doc__,
)
def checkpoint_evaluation(context: dg.SensorEvaluationContext) -> dg.SensorResult:
    assets = checkpoint_assets(Project.current())
    requests, cursor = new_evaluations(context.instance, context.cursor, assets, sensor="checkpoint_evaluation")
    return dg.SensorResult(run_requests=requests, cursor=cursor)
