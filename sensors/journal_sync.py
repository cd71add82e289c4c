"""Tells Dagster what it has not heard: rollbacks, builds and runs from elsewhere, all of it after a lost database."""

import dagster as dg

from aifactory.launch.scope import Scope
from aifactory.namespace import Namespace
from aifactory.orchestrate.sync import sync


@dg.sensor(
    name=Scope.current().name("journal_sync"),
    minimum_interval_seconds=10,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description=__doc__,
)
def journal_sync(context: dg.SensorEvaluationContext) -> dg.SensorResult | dg.SkipReason:
    said, cursor = sync(context.instance, Namespace.open(), context.cursor, scope=Scope.current())
    context.update_cursor(cursor)
    for line in said:
        context.log.info(line)
    return dg.SkipReason(f"told Dagster of {len(said)} records" if said else "nothing new in the records")
