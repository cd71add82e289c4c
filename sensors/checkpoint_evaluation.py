"""Asks for the evaluation of every new checkpoint."""

import dagster as dg

from aifactory.launch.scope import Scope
from aifactory.orchestrate.checkpoints import checkpoint_assets, new_evaluations
from aifactory.project import Project

NAME = Scope.current().name("checkpoint_evaluation")


@dg.sensor(
    name=NAME,
    job_name="evaluate",
    minimum_interval_seconds=2,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description=__doc__,
)
def checkpoint_evaluation(context: dg.SensorEvaluationContext) -> dg.SensorResult:
    assets = checkpoint_assets(Project.current(), Scope.current())
    requests, cursor = new_evaluations(context.instance, context.cursor, assets, sensor=NAME)
    return dg.SensorResult(run_requests=requests, cursor=cursor)
