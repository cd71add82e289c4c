"""Dagster's view of trainings and evaluations that it did not watch: started in a terminal, or told to a database that
was lost."""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path

import dagster as dg

from aifactory.channel import CheckpointSaved, Message, Reader, Scored
from aifactory.channel.safe import is_private
from aifactory.errors import FactoryError
from aifactory.launch import Plan, attempt_name, resume
from aifactory.launch.runs.summary import LIVE, RunSummary, runs_directories, summary
from aifactory.launch.scope import Scope
from aifactory.namespace import Namespace
from aifactory.orchestrate.automation import EVERYTHING
from aifactory.orchestrate.guard import in_words
from aifactory.orchestrate.interrupts import ENDED
from aifactory.orchestrate.lines import checkpoints_key, evaluations_key
from aifactory.orchestrate.reported import materializations, value_of
from aifactory.orchestrate.results import checkpoint_event, score_event

KINDS = ("train-", "evaluate-")
OPEN = ("planned", *LIVE)
type Told = dict[dg.AssetKey, set[tuple[object, ...]]]


def sync_runs(
    instance: dg.DagsterInstance, ns: Namespace, done: set[str], *, scope: Scope = EVERYTHING, until: float
) -> list[str]:
    """Report checkpoints and scores that Dagster lacks, of every run that no live Dagster run watches; a line for each.

    `done` holds runs that have ended and are told, and grows; `until` is a value of the monotonic clock. A run whose
    records can't be read is named once and passed over.
    """
    said: list[str] = []
    told: Told = {}
    for directory in _runs(ns, scope):
        if directory.name in done:
            continue
        if time.monotonic() > until:
            break
        try:
            if _sync_run(instance, ns, directory, told, said):
                done.add(directory.name)
        except Exception as error:
            private = is_private(directory)
            if not private and not isinstance(error, FactoryError):
                raise
            said.append(f"{directory.name}: {in_words(error, private=private)}")
            done.add(directory.name)
    return said


def _runs(ns: Namespace, scope: Scope) -> Iterable[Path]:
    # Not those of read-only roots: their own site tells and evaluates them.
    own = [root for root in runs_directories(ns) if not ns.is_away(root)]
    roots = [root for root in own if scope.holds(ns.class_of(root.parent))]
    return [path for root in roots for path in sorted(root.iterdir()) if path.name.startswith(KINDS)]


def _sync_run(instance: dg.DagsterInstance, ns: Namespace, directory: Path, told: Told, said: list[str]) -> bool:
    """True when the run has ended and everything of it is told."""
    plan = resume(directory.name, ns=ns)
    if plan is None or plan.context.line is None or _watched(instance, plan):
        return False
    seen = summary(directory)
    events = (_checkpoints if plan.kind == "train" else _scores)(instance, plan, directory, seen, told)
    for event in events:
        instance.report_runless_asset_event(event)
        said.append(event.description or directory.name)
    return seen.state not in OPEN


def _watched(instance: dg.DagsterInstance, plan: Plan) -> bool:
    """Whether a Dagster run is at it, which tells by itself."""
    if plan.context.origin is None:
        return False
    run = instance.get_run_by_id(plan.context.origin.partition("/")[0])
    return run is not None and run.status not in ENDED


def _checkpoints(
    instance: dg.DagsterInstance, plan: Plan, directory: Path, seen: RunSummary, told: Told
) -> list[dg.AssetMaterialization]:
    held = _held(instance, checkpoints_key(plan.context.line or ""), ("run", "attempt", "message"), told)
    return [
        checkpoint_event(plan, directory.name, message, saved)
        for attempt in range(1, seen.attempts + 1)
        for message in _messages(directory, attempt)
        if isinstance(saved := message.payload, CheckpointSaved)
        and (directory.name, message.attempt, message.seq) not in held
    ]


def _scores(
    instance: dg.DagsterInstance, plan: Plan, directory: Path, seen: RunSummary, told: Told
) -> list[dg.AssetMaterialization]:
    if seen.state != "succeeded":
        return []
    if (directory.name,) in _held(instance, evaluations_key(plan.context.line or ""), ("run",), told):
        return []
    scores = [score for message in _messages(directory, seen.attempts) if isinstance(score := message.payload, Scored)]
    place = next(iter(plan.context.places.values()), "")
    return [score_event(plan, place, directory.name, seen.attempts, directory, scores)]


def _messages(directory: Path, attempt: int) -> list[Message]:
    found = Reader(directory / "attempts" / attempt_name(attempt)).new()
    return [message for message in found if message.method == "report_custom_message"]


def _held(
    instance: dg.DagsterInstance, key: dg.AssetKey, names: tuple[str, ...], told: Told
) -> set[tuple[object, ...]]:
    # Read once a tick, not once a run: a line may have thousands of events.
    if key not in told:
        told[key] = {tuple(value_of(event, name) for name in names) for event in materializations(instance, key)}
    return told[key]
