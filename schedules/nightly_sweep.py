"""Every night, removes from the namespace what killed writers left."""

import dagster as dg

from aifactory.launch.scope import Scope
from aifactory.orchestrate.sweeping import sweep_namespace


@dg.op(name="sweep", description=sweep_namespace.__doc__)
def sweep_op(context: dg.OpExecutionContext) -> None:
    sweep_namespace(context)


@dg.graph
def sweeping() -> None:
    sweep_op()


nightly_sweep = dg.ScheduleDefinition(
    name=Scope.current().name("nightly_sweep"),
    job=sweeping.to_job(name="sweep", description=__doc__),
    cron_schedule="0 3 * * *",
    default_status=dg.DefaultScheduleStatus.RUNNING,
    description=__doc__,
)
