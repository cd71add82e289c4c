"""Every night, asks for a smoke of the training image on each cluster where nothing has proved it yet."""

import dagster as dg

from aifactory.launch.scope import Scope
from aifactory.launch.smoke.settings import when
from aifactory.orchestrate.nightly import tonight
from aifactory.project import Project


@dg.schedule(
    name=Scope.current().name("nightly_smoke"),
    job_name="smoke",
    cron_schedule=when(Project.current()),
    default_status=dg.DefaultScheduleStatus.RUNNING,
    description=__doc__,
)
def nightly_smoke(context: dg.ScheduleEvaluationContext) -> dg.SkipReason | list[dg.RunRequest]:
    return tonight(context)
