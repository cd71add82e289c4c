"""The step of the job `train`."""

from __future__ import annotations

import json
from typing import Any

import dagster as dg
from pydantic import Field

from aifactory.channel import CheckpointSaved, Message, Reader
from aifactory.channel.safe import is_private
from aifactory.errors import FactoryError
from aifactory.launch import Plan, attempt_name, plan
from aifactory.launch.runs.result import RunResult
from aifactory.launch.runs.summary import RUNS
from aifactory.launch.scope import Scope
from aifactory.orchestrate.again import planned
from aifactory.orchestrate.comparing import compared
from aifactory.orchestrate.guard import guarded, in_words
from aifactory.orchestrate.lines import checkpoints_key
from aifactory.orchestrate.origin import Origin, requester
from aifactory.orchestrate.pipes import ended_badly, failure, follow
from aifactory.orchestrate.reported import messages_of
from aifactory.orchestrate.results import checkpoint_event
from aifactory.spec import get_recipe


class TrainConfig(dg.Config):
    """What to train: a recipe with overrides, or the hash of a spec that was frozen by `aifactory plan`; and where.
    `allow` names refusals of the gate by their codes that are overridden for the reason `why`. `pins` (`key@version`),
    `inputs_of` (a run) and `image` (a digest) take older inputs and code than those of today; `resume_from`
    (`<run>/<step>`) goes on from a checkpoint. `resolution` is the number of what the spec was resolved for (recipe,
    line, suites), where that is not the newest."""

    recipe: str | None = None
    overrides: dict[str, Any] = Field(default_factory=dict)
    spec: str | None = None
    cluster: str = "local"
    queue: str | None = None
    priority: str | None = None
    shape: str | None = None
    allow: list[str] = Field(default_factory=list)
    why: str = ""
    deadline_seconds: float | None = None
    stall_seconds: float | None = None
    pins: list[str] = Field(default_factory=list)
    inputs_of: str | None = None
    image: str | None = None
    resolution: int | None = None
    resume_from: str | None = None
    prefetch: bool = False

    def label(self) -> str:
        """How the run is called."""
        return self.recipe or (self.spec or "")[:12] or "train"

    def texts(self) -> list[str]:
        """The overrides as `path=value`."""
        values = {path: one if isinstance(one, str) else json.dumps(one) for path, one in self.overrides.items()}
        return [f"{path}={value}" for path, value in values.items()]


def train(context: dg.OpExecutionContext, config: TrainConfig) -> None:
    """Resolve, freeze, compare with the run before, gate, launch or adopt, watch to the end. Each checkpoint becomes a
    materialization at once; the output tells what the run changed."""
    name, chosen = planned(context, "train", config.label(), lambda origin: _fresh(context, config, origin))
    context.log.info(f"run {name}, spec {chosen.hash}, line {chosen.context.line}")
    with guarded(chosen.class_root / RUNS / name):
        comparison = compared(context, chosen, name)
        checkpoints = Checkpoints(context, chosen, name)
        result = follow(context, chosen, run=name, on_message=checkpoints.take)
        checkpoints.earlier(result)
        if not result.succeeded:
            raise ended_badly(result, f"training {name}")
    # What it changed comes first: Dagster's page cuts a long list off.
    context.add_output_metadata(
        (comparison.metadata() if comparison is not None else {})
        | {
            "run": name,
            "spec": chosen.hash,
            "checkpoints": checkpoints.count,
            "run_directory": dg.MetadataValue.path(str(result.directory)),
        }
    )


def _fresh(context: dg.OpExecutionContext, config: TrainConfig, origin: Origin) -> Plan:
    if bool(config.recipe) == bool(config.spec):
        raise FactoryError(
            "the job train takes a recipe or the hash of a frozen spec",
            found="both" if config.recipe else "neither",
            expected="one of `recipe` and `spec`",
            fix="name a recipe; `aifactory plan <recipe>` prints the hash of its spec",
            code="config",
        )
    if config.spec and config.overrides:
        raise FactoryError(
            f"spec {config.spec[:16]} is frozen and takes no overrides",
            found=", ".join(config.overrides),
            fix="launch the recipe with these overrides, or the spec without them",
            code="config",
        )
    recipe = get_recipe(config.recipe) if config.recipe else None
    if recipe is not None:
        # Before a spec of it is frozen, which would be written where this location may not write.
        Scope.current().require(recipe.line, f"recipe {recipe.name}, whose line is {recipe.line}")
    return plan(
        recipe or str(config.spec),
        cluster=config.cluster,
        overrides=config.texts(),
        queue=config.queue,
        priority=config.priority,
        shape=config.shape,
        deadline_seconds=config.deadline_seconds,
        stall_seconds=config.stall_seconds,
        allow=config.allow,
        why=config.why,
        pins=config.pins,
        inputs_of=config.inputs_of,
        image=config.image,
        resolution=config.resolution,
        resume_from=config.resume_from,
        prefetch=config.prefetch,
        requester=requester(context.run),
        origin=origin.text,
    )


class Checkpoints:
    """Turns checkpoint messages into materializations of the line's checkpoints, each once in Dagster's life.

    A worker that comes back hears every message again; those that stand in Dagster by (run, attempt, seq) are passed
    over.
    """

    def __init__(self, context: dg.OpExecutionContext, plan: Plan, run: str):
        if plan.context.line is None:
            raise failure(FactoryError(f"spec {plan.hash[:16]} names no line", fix="plan its recipe anew", code="line"))
        self._context, self._plan, self._run = context, plan, run
        self._told = messages_of(context.instance, checkpoints_key(plan.context.line), run)
        self.count = 0

    def take(self, message: Message) -> None:
        """A message of the attempt that is watched."""
        if message.method != "report_custom_message" or not isinstance(saved := message.payload, CheckpointSaved):
            return
        self.count += 1
        if (message.attempt, message.seq) not in self._told:
            self._told.add((message.attempt, message.seq))
            self._context.log_event(checkpoint_event(self._plan, self._run, message, saved))

    def earlier(self, result: RunResult) -> None:
        """Those of earlier attempts that nobody was there to tell."""
        for attempt in range(1, result.attempt):
            reader = Reader(result.directory / "attempts" / attempt_name(attempt))
            try:
                for message in reader.new():
                    self.take(message)
            except FactoryError as error:
                self._context.log.warning(f"attempt {attempt}: {in_words(error, private=is_private(result.directory))}")
