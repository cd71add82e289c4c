"""Which run of ours a Dagster step stands for."""

from __future__ import annotations

from dataclasses import dataclass

import dagster as dg

from aifactory.orchestrate.automation import REQUESTER_TAG

RETRY_TAG = "dagster/retry_number"
PARENT_TAG = "dagster/parent_run_id"
LONGEST_CHAIN = 100


@dataclass(frozen=True)
class Origin:
    """`text` seeds the run's name. It is the same for a step that is started again in its Dagster run (by a retry or a
    resumed worker) and for Dagster's own retry of that run, another for a person's re-execution. `parent` is the
    origin that a person executed again, if one did."""

    text: str
    parent: str | None


def origin_of(instance: dg.DagsterInstance, run: dg.DagsterRun, step: str) -> Origin:
    """The origin of `step` in `run`: its Dagster run, or the first of a chain of Dagster's automatic retries."""
    for _ in range(LONGEST_CHAIN):
        if RETRY_TAG not in run.tags:
            break
        parent = instance.get_run_by_id(run.tags.get(PARENT_TAG, ""))
        if parent is None:
            break
        run = parent
    above = instance.get_run_by_id(run.tags.get(PARENT_TAG, ""))
    return Origin(
        text=f"{run.run_id}/{step}",
        parent=None if above is None else origin_of(instance, above, step).text,
    )


def requester(run: dg.DagsterRun) -> str:
    """Who asked: a tag that a sensor of ours set, the sensor or schedule of that name, else a person."""
    tags = run.tags
    if REQUESTER_TAG in tags:
        return tags[REQUESTER_TAG]
    for tag in ("dagster/sensor_name", "dagster/schedule_name"):
        if tag in tags:
            return tags[tag]
    return "person:" + tags.get("user", tags.get("dagster/user", "dagster"))


def by_person(run: dg.DagsterRun) -> bool:
    """Whether a person asked for this run."""
    return requester(run).startswith("person:")
