"""The step of the job `evaluate`."""

from __future__ import annotations

import dagster as dg
from pydantic import Field

from aifactory.channel import Message, Scored
from aifactory.errors import FactoryError
from aifactory.launch import EvaluateTarget, Plan, plan
from aifactory.launch.checkpoints.checkpoint import is_line
from aifactory.launch.checkpoints.saved import find_checkpoint
from aifactory.launch.claims import claim
from aifactory.launch.runs.summary import RUNS
from aifactory.launch.scope import Scope
from aifactory.namespace import Namespace
from aifactory.orchestrate.again import planned
from aifactory.orchestrate.guard import guarded
from aifactory.orchestrate.lines import evaluations_key
from aifactory.orchestrate.origin import Origin, by_person, requester
from aifactory.orchestrate.pipes import ended_badly, failure, follow
from aifactory.orchestrate.reported import materializations, value_of
from aifactory.orchestrate.results import said, score_event

TRIES = 2


class EvaluateConfig(dg.Config):
    """What to score: a checkpoint (`/factory/<class>/runs/<run>/checkpoints/step-<8 digits>`, `<run>/<step>`) or what
    a line stands for (`public/models/tiny`, or `...@version`). `allow` names refusals of the gate by their codes that
    are overridden for the reason `why`. `pins` (`key@version` of suites) and `image` (a digest) take others than those
    that the training fixed."""

    checkpoint: str
    cluster: str = "local"
    queue: str | None = None
    priority: str | None = None
    shape: str | None = None
    allow: list[str] = Field(default_factory=list)
    why: str = ""
    pins: list[str] = Field(default_factory=list)
    image: str | None = None
    prefetch: bool = False

    def label(self) -> str:
        """How the run is called: the step, or the line."""
        if is_line(self.checkpoint):
            return self.checkpoint.partition("@")[0].rpartition("/")[2]
        step = self.checkpoint.rstrip("/").rpartition("/")[2].removeprefix("step-")
        return f"step-{int(step)}" if step.isdigit() else "checkpoint"


def evaluate(context: dg.OpExecutionContext, config: EvaluateConfig) -> None:
    """Score the checkpoint on the suites that its training froze. A failed attempt is followed by a second one.

    A run that no person asked for leaves the work to another that is at it or has done it, and ends green naming it.
    """
    name, chosen = planned(context, "evaluate", config.label(), lambda origin: _fresh(context, config, origin))
    other = claim(chosen, name, always=by_person(context.run), requester=requester(context.run))
    if other is not None:
        done = "was evaluated by" if other.state == "succeeded" else "is being evaluated by"
        context.log.info(f"{config.checkpoint} {done} {other.run}: nothing to do")
        context.add_output_metadata({"claimed_by": other.run, "state": other.state})
        return
    scores: dict[str, Scored] = {}

    def take(message: Message) -> None:
        if message.method == "opened":
            scores.clear()  # an attempt that failed does not count
        elif message.method == "report_custom_message" and isinstance(score := message.payload, Scored):
            scores[f"{score.key} {score.metric}"] = score
            context.log.info(f"{score.key}: {said(score)}")

    with guarded(chosen.class_root / RUNS / name):
        result = follow(context, chosen, run=name, on_message=take, tries=TRIES)
        if not result.succeeded:
            raise ended_badly(result, f"evaluation {name}")
        if not any(value_of(event, "run") == name for event in materializations(context.instance, _key(chosen))):
            place = next(iter(chosen.context.places.values()), config.checkpoint)
            context.log_event(score_event(chosen, place, name, result.attempt, result.directory, list(scores.values())))
    context.add_output_metadata({"run": name, "spec": chosen.hash, "suites": len({one.key for one in scores.values()})})


def _fresh(context: dg.OpExecutionContext, config: EvaluateConfig, origin: Origin) -> Plan:
    line = is_line(config.checkpoint)
    place = config.checkpoint if line else find_checkpoint(config.checkpoint, Namespace.open())
    Scope.current().require(place, f"the evaluation of {place}")
    return plan(
        EvaluateTarget(config.checkpoint),
        cluster=config.cluster,
        queue=config.queue,
        priority=config.priority,
        shape=config.shape,
        allow=config.allow,
        why=config.why,
        pins=config.pins,
        image=config.image,
        prefetch=config.prefetch,
        requester=requester(context.run),
        origin=origin.text,
    )


def _key(plan: Plan) -> dg.AssetKey:
    if plan.context.line is None:
        raise failure(FactoryError(f"evaluation {plan.hash[:16]} names no line", fix="plan it anew", code="line"))
    return evaluations_key(plan.context.line)
