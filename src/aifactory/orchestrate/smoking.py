"""The step of the job `smoke`."""

from __future__ import annotations

import dagster as dg

from aifactory.channel import Message
from aifactory.errors import FactoryError
from aifactory.launch import Plan, RunResult
from aifactory.launch.clusters.registry import load_clusters
from aifactory.launch.notify.notifier import notifier
from aifactory.launch.smoke.claim import claim
from aifactory.launch.smoke.finish import prove, red, steps_of
from aifactory.launch.smoke.gone import gone
from aifactory.launch.smoke.planning import smoke_plan
from aifactory.launch.smoke.settings import SmokeSettings, require_smoke
from aifactory.namespace import Namespace
from aifactory.orchestrate.again import planned
from aifactory.orchestrate.origin import Origin, requester
from aifactory.orchestrate.pipes import ended_badly, failure, follow
from aifactory.orchestrate.tables import table
from aifactory.project import Project


class SmokeConfig(dg.Config):
    """Where, and which image (by 8 digits or more of its digest; the one that the checkout makes, if it is left out).
    What is trained on, and the queue, priority and shape that are usual there, stand in pyproject.toml, under
    `[tool.aifactory.smoke]`."""

    cluster: str = "local"
    image: str | None = None
    queue: str | None = None
    priority: str | None = None
    shape: str | None = None
    deadline_seconds: float | None = None


def smoke(context: dg.OpExecutionContext, config: SmokeConfig) -> None:
    """Prove an image on a cluster: train, kill, resume, compare bit for bit, evaluate, all in one run there.

    Green, and nothing of it left there: the image is verified on that cluster, and the gate lets it train. Red: it
    stays unverified, the run keeps what it wrote, and the owners are told. An image that another smoke is at there is
    left to it.
    """
    project, ns = Project.current(), Namespace.open()
    try:
        settings = require_smoke(project)
        name, chosen = planned(
            context, "smoke", config.cluster, lambda origin: _fresh(context, config, origin, settings)
        )
        other = claim(chosen, name, requester=requester(context.run), ns=ns)
    except FactoryError as error:
        raise failure(error) from error
    if other is not None:
        context.log.info(f"{other} is at this image on {config.cluster}: nothing to do")
        context.add_output_metadata({"claimed_by": other})
        return
    result = None
    try:
        result = follow(context, chosen, run=name, on_message=_nothing)
        if not result.succeeded:
            raise _red(result, config.cluster)
        try:
            seconds = gone(result, load_clusters(project).get(config.cluster))
            proof = prove(chosen, result, settings.version, ns=ns, project=project)
        except FactoryError as error:
            raise failure(error) from error
    except dg.Failure as error:
        if result is None or result.outcome != "cancelled":
            link = f"/runs/{context.run.run_id}"
            notice = red(chosen, name, result, error.description or "", settings, link=link)
            notifier(project, context.log.warning).tell(notice)
        raise
    context.log.info(f"image {proof.digest[:16]} is verified on {proof.where} by {proof.run}")
    said = {"run": name, "image": proof.digest, "cluster": proof.where, "gone after seconds": round(seconds, 1)}
    context.add_output_metadata({**said, **_steps(result)})


def _red(result: RunResult, cluster: str) -> dg.Failure:
    found = ended_badly(result, f"the smoke {result.run} on {cluster}")
    return dg.Failure(description=found.description, metadata={**found.metadata, **_steps(result)}, allow_retries=False)


def _steps(result: RunResult) -> dict[str, dg.MetadataValue]:
    rows = [
        {"step": step.name, "outcome": step.outcome, "seconds": f"{step.seconds:.1f}", "": step.text}
        for step in steps_of(result.directory)
    ]
    return {"steps": dg.MetadataValue.md(table(rows)), "directory": dg.MetadataValue.path(str(result.directory))}


def _fresh(context: dg.OpExecutionContext, config: SmokeConfig, origin: Origin, settings: SmokeSettings) -> Plan:
    return smoke_plan(
        settings,
        config.cluster,
        image=config.image,
        queue=config.queue,
        priority=config.priority,
        shape=config.shape,
        deadline_seconds=config.deadline_seconds,
        requester=requester(context.run),
        origin=origin.text,
    )


def _nothing(_: Message) -> None:
    return None
