"""The tick of the schedule `nightly_smoke`."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime

import dagster as dg

from aifactory.launch.clusters.registry import load_clusters
from aifactory.launch.images.verifications import verifications
from aifactory.launch.scope import Scope
from aifactory.launch.smoke.decide import Decision, Past, decide
from aifactory.launch.smoke.known import IMAGE, clusters_of, history, pairs
from aifactory.launch.smoke.reach import unreachable
from aifactory.launch.smoke.settings import SmokeSettings, load_smoke
from aifactory.namespace import Namespace
from aifactory.orchestrate.automation import REQUESTER_TAG
from aifactory.orchestrate.keys import tag_value
from aifactory.project import Project

IMAGE_TAG, CLUSTER_TAG = "factory/image", "factory/cluster"
LAST = "-10"
"""Dagster's priority of a smoke in its own queue: everything else goes first."""


def tonight(context: dg.ScheduleEvaluationContext) -> dg.SkipReason | list[dg.RunRequest]:
    """A run for every image and cluster that needs one, lowest priority; the tick says why each of the others does
    not, with the proof.

    Raises FactoryError for settings or an image that are wrong: the tick is red, and says the fix.
    """
    project, scope = Project.current(), Scope.current()
    if not scope.holds("public"):
        return dg.SkipReason("images are smoked by the location that executes what is public")
    settings = load_smoke(project)
    if settings is None:
        return dg.SkipReason("no smoke is declared: [tool.aifactory.smoke] in pyproject.toml names its data")
    at = context.scheduled_execution_time
    decisions = decisions_of(project, settings, at, waiting(context.instance))
    for one in decisions:
        (context.log.warning if one.action == "down" else context.log.info)(one.text)
    found = requests(decisions, settings, night=f"{at:%Y-%m-%d}", schedule=scope.name("nightly_smoke"))
    if found:
        return found
    # The page shows it as one paragraph.
    return dg.SkipReason(";\n".join(one.text for one in decisions) or "no cluster to smoke an image on")


def waiting(instance: dg.DagsterInstance) -> list[Past]:
    """Smokes that Dagster has been asked for and that have not ended: a queued one has no run of ours yet."""
    statuses = [dg.DagsterRunStatus[one] for one in ("QUEUED", "NOT_STARTED", "STARTING", "STARTED", "CANCELING")]
    found = instance.get_run_records(dg.RunsFilter(job_name="smoke", statuses=statuses))
    return [
        Past(
            f"the Dagster run {record.dagster_run.run_id[:8]}",
            record.dagster_run.tags.get(IMAGE_TAG, ""),
            record.dagster_run.tags.get(CLUSTER_TAG, ""),
            "live",
            record.create_timestamp.astimezone(UTC),
            record.dagster_run.status.value.lower(),
            f"/runs/{record.dagster_run.run_id}",
        )
        for record in found
    ]


def decisions_of(
    project: Project, settings: SmokeSettings, now: datetime, asked: Iterable[Past] = ()
) -> list[Decision]:
    """What the records and the clusters say tonight; `asked` are smokes that are asked for already."""
    ns, clusters = Namespace.of(project), load_clusters(project)
    down = unreachable(clusters, clusters_of(settings, clusters))
    proofs = verifications(ns, IMAGE)
    found = pairs(project, settings, clusters, down)
    return decide(now.astimezone(UTC), found, proofs, [*history(ns), *asked], settings.rule)


def requests(
    decisions: Iterable[Decision], settings: SmokeSettings, *, night: str, schedule: str
) -> list[dg.RunRequest]:
    """The run requests of a night; one that is played again asks for nothing twice."""
    return [_request(one, settings, night, schedule) for one in decisions if one.action == "run"]


def _request(one: Decision, settings: SmokeSettings, night: str, schedule: str) -> dg.RunRequest:
    pair, place = one.pair, settings.place(one.pair.cluster)
    config: dict[str, object] = {"cluster": pair.cluster, "image": pair.digest}
    config |= {name: value for name, value in place.model_dump().items() if value is not None}
    return dg.RunRequest(
        run_key=f"{night}/{pair.cluster}/{(pair.oci or pair.digest).removeprefix('sha256:')[:16]}/v{settings.version}",
        run_config={"ops": {"smoke": {"config": config}}},
        tags={
            REQUESTER_TAG: schedule,
            CLUSTER_TAG: pair.cluster,
            IMAGE_TAG: pair.digest,
            "factory/why": tag_value(one.why),
            "dagster/priority": LAST,
        },
    )
