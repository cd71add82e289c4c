"""Whether Dagster still wants a run that it launched on a cluster."""

from __future__ import annotations

import time

import dagster as dg

from aifactory.orchestrate.interrupts import ENDED
from aifactory.orchestrate.origin import PARENT_TAG
from aifactory.spec import Context

WILL_RETRY_TAG = "dagster/will_retry"
LONGEST_CHAIN = 100


def unwanted(instance: dg.DagsterInstance, context: Context) -> float | None:
    """For how many seconds nobody has wanted the run; None while somebody may: it was launched in a terminal, its
    Dagster run is not known (a lost database is no reason to end a training), lives, will be retried, or has a child
    of which this holds."""
    if context.origin is None:
        return None
    return _ended(instance, context.origin.partition("/")[0], LONGEST_CHAIN)


def _ended(instance: dg.DagsterInstance, run_id: str, most: int) -> float | None:
    record = instance.get_run_record_by_id(run_id)
    if record is None or record.dagster_run.status not in ENDED or record.end_time is None or not most:
        return None
    children = instance.get_run_records(filters=dg.RunsFilter(tags={PARENT_TAG: run_id}))
    if not children and record.dagster_run.tags.get(WILL_RETRY_TAG) == "true":
        return None
    times = [time.time() - record.end_time]
    for child in children:
        # A person's re-execution is a run of its own; whether it goes on with this one is not decided here.
        if (ended := _ended(instance, child.dagster_run.run_id, most - 1)) is None:
            return None
        times.append(ended)
    return max(0.0, min(times))
