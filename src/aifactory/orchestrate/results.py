"""What a model line shows in Dagster: an event for a checkpoint, an event for its scores."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import dagster as dg

from aifactory.channel import CheckpointSaved, Message, Scored
from aifactory.launch import Plan
from aifactory.launch.checkpoints.checkpoint import step_at
from aifactory.namespace import Namespace
from aifactory.orchestrate.keys import access_of
from aifactory.orchestrate.lines import checkpoints_key, evaluations_key


def checkpoint_event(plan: Plan, run: str, message: Message, saved: CheckpointSaved) -> dg.AssetMaterialization:
    """A checkpoint of `run`, whose plan names a line. Numbers stand as numbers, so that Plots draws them."""
    line = plan.context.line or ""
    metadata: dict[str, Any] = {name: float(value) for name, value in sorted(saved.metrics.items())}
    metadata |= {
        "step": saved.step,
        "loss": float(saved.loss),
        "tokens": saved.tokens,
        "checkpoint": saved.path,
        "digest": saved.digest,
        "run": run,
        "attempt": message.attempt,
        "message": message.seq,
        "spec": plan.hash,
        "recipe": plan.context.recipe or "",
        "class": access_of(line),
    }
    return dg.AssetMaterialization(
        asset_key=checkpoints_key(line),
        description=f"step {saved.step:,} of {run}",
        metadata=metadata,
        tags={"dagster/data_version": saved.digest, "factory/run": run},
    )


def score_event(
    plan: Plan, checkpoint: str, run: str, attempt: int, directory: Path, scores: list[Scored]
) -> dg.AssetMaterialization:
    """The scores of one checkpoint or promoted model (its canonical path) by the evaluation `run`, whose plan names a
    line."""
    line = plan.context.line or ""
    metadata: dict[str, Any] = {}
    for score in scores:
        suite = score.key.rsplit("/", 1)[-1]
        if f"{suite} {score.metric}" in metadata:
            suite = score.key  # two suites of one name
        name = f"{suite} {score.metric}"
        metadata |= {name: float(score.value), f"{name} low": float(score.low), f"{name} high": float(score.high)}
        metadata[f"{suite} items"] = score.items
        metadata |= {f"{suite} {extra}": float(value) for extra, value in sorted(score.extra.items())}
    step = step_at(checkpoint, Namespace.open())
    if step is not None:
        metadata["step"] = step
    for model in plan.spec.inputs_of("model"):
        metadata["model"] = model.name
    metadata |= {
        "checkpoint": checkpoint,
        "run": run,
        "attempt": attempt,
        "spec": plan.hash,
        "class": access_of(line or checkpoint.removeprefix("/factory/")),
        "results": dg.MetadataValue.path(str(directory / "results")),
    }
    return dg.AssetMaterialization(
        asset_key=evaluations_key(line),
        description=f"{checkpoint.rsplit('/', 1)[-1]}: " + "; ".join(f"{one.key} {said(one)}" for one in scores),
        metadata=metadata,
        tags={"factory/run": run},
    )


def said(score: Scored) -> str:
    """`accuracy 0.310 [0.265, 0.358], 400 items`."""
    return f"{score.metric} {score.value:.4g} [{score.low:.4g}, {score.high:.4g}], {score.items:,} items"
