"""Tells Dagster what the journals say and it has not heard: rollbacks, builds from elsewhere, a lost database."""

import dagster as dg

from aifactory.namespace import Namespace
from aifactory.orchestrate.sync import sync


@dg.sensor(
    minimum_interval_seconds=10,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description=__doc__,
)
def journal_sync(context: dg.SensorEvaluationContext) -> dg.SensorResult | dg.SkipReason:
    said, cursor = sync(context.instance, Namespace.open(), context.cursor)
    context.update_cursor(cursor)
    for line in said:
        context.log.info(line)
    return dg.SkipReason(f"told Dagster of {len(said)} publications" if said else "nothing new in the journals")
