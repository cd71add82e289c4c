"""What a training and its evaluations came to, read from the namespace."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from aifactory.channel import CheckpointSaved, Message, Reader, Scored
from aifactory.channel.logs import driver_log
from aifactory.launch import attempt_name
from aifactory.launch.runs.attempts import Attempts
from aifactory.launch.runs.summary import RunSummary, runs
from aifactory.namespace import Namespace
from aifactory.spec import Context, RunSpec


@dataclass
class Training:
    """One succeeded training: its checkpoints by step, and the scores of each by the checkpoint's digest."""

    run: str
    directory: Path
    suites: tuple[str, ...]
    checkpoints: list[CheckpointSaved] = field(default_factory=list)
    scores: dict[str, list[Scored]] = field(default_factory=dict)

    @property
    def complete(self) -> bool:
        """Every checkpoint has a score on every suite."""
        wanted = set(self.suites)
        return all(wanted <= {score.key for score in self.scores.get(saved.digest, ())} for saved in self.checkpoints)


def find_training(ns: Namespace, spec: str) -> Training | None:
    """The newest training that succeeded under this spec, with what is known of its evaluations."""
    known = runs(ns)
    chosen = next((run for run in known if run.kind == "train" and run.hash == spec and run.state == "succeeded"), None)
    if chosen is None:
        return None
    context = Context.load(chosen.directory / "context.json")
    found = Training(chosen.run, chosen.directory, tuple(sorted({suite.key for suite in context.suites})))
    for attempt in Attempts(chosen.directory).all():
        for message in messages(chosen.directory, attempt.number):
            saved = message.payload
            if isinstance(saved, CheckpointSaved) and all(saved.step != one.step for one in found.checkpoints):
                found.checkpoints.append(saved)
    found.checkpoints.sort(key=lambda saved: saved.step)
    digests = {saved.digest for saved in found.checkpoints}
    for run in reversed(known):
        if run.kind == "evaluate" and run.state == "succeeded":
            for digest in _checkpoints_of(run) & digests:
                found.scores[digest] = _scores(run)
    return found


def messages(directory: Path, attempt: int) -> list[Message]:
    """The messages of one attempt of the run in `directory`."""
    return Reader(directory / "attempts" / attempt_name(attempt)).new()


def unigram(saved: CheckpointSaved) -> float | None:
    """The loss of a model that knows only how often each token comes, where training reported it."""
    return saved.metrics.get("unigram_loss")


def log_of(ns: Namespace, dagster_run: str) -> Path | None:
    """The driver's log of what a Dagster run launched last."""
    for run in runs(ns):
        origin = Context.load(run.directory / "context.json").origin or ""
        if origin.partition("/")[0] == dagster_run and run.attempts and run.state != "succeeded":
            return driver_log(run.directory / "attempts" / attempt_name(run.attempts))
    return None


def columns(training: Training) -> Mapping[str, str]:
    """`{"<key> <metric>": "chapters accuracy"}` of every metric that any checkpoint was scored with, in order."""
    found = {
        f"{score.key} {score.metric}": f"{score.key.rsplit('/', 1)[-1]} {score.metric}"
        for scores in training.scores.values()
        for score in scores
    }
    return dict(sorted(found.items()))


def _checkpoints_of(run: RunSummary) -> set[str]:
    spec = RunSpec.load(run.directory / "spec.json")
    return {one.version for one in spec.inputs if one.kind == "checkpoint"}


def _scores(run: RunSummary) -> list[Scored]:
    payloads = (message.payload for message in messages(run.directory, run.attempts))
    return [payload for payload in payloads if isinstance(payload, Scored)]
