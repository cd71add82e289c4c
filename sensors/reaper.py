"""Compares what clusters hold with the runs: ends what nobody wants any more, records what is lost, sweeps the rest."""

from functools import partial

import dagster as dg

from aifactory.launch.reaper import reap
from aifactory.launch.scope import Scope
from aifactory.namespace import Namespace
from aifactory.orchestrate.reaping import unwanted
from aifactory.project import Project


@dg.sensor(
    name=Scope.current().name("reaper"),
    minimum_interval_seconds=60,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description=__doc__,
)
def reaper(context: dg.SensorEvaluationContext) -> dg.SkipReason:
    wanted = partial(unwanted, context.instance)
    said = reap(Namespace.open(), wanted, project=Project.current(), scope=Scope.current())
    for line in said:
        context.log.info(line)
    return dg.SkipReason("; ".join(said)[:2000] if said else "clusters hold what the runs' records say")
