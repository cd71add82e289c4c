"""Runs as their processes leave them: directories with messages, so that jobs have something to replay."""

from __future__ import annotations

import json
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dagster as dg

from aifactory.channel import CheckpointSaved, Failure, Payload, Scored, Started, Writer
from aifactory.launch import Attempts, EvaluateTarget, Plan, plan, run_name
from aifactory.orchestrate.folders import defined
from aifactory.spec import get_recipe
from aifactory.store import digest
from tests.orchestrate.lab import CHECKOUT, Lab


def job(name: str) -> dg.JobDefinition:
    """A job of this checkout."""
    (found,) = [one for one in defined(CHECKOUT, "jobs", (dg.JobDefinition,)) if one.name == name]
    return found


@dataclass(frozen=True)
class World:
    """A lab, and ways to put finished runs into its namespace."""

    lab: Lab

    def run(
        self,
        instance: dg.DagsterInstance,
        name: str,
        config: dict[str, Any],
        *,
        run_id: str | None = None,
        tags: dict[str, str] | None = None,
    ) -> dg.ExecuteInProcessResult:
        """Execute a job in this process."""
        return job(name).execute_in_process(
            instance=instance,
            run_config={"ops": {name: {"config": config}}},
            run_id=run_id,
            tags=tags,
            raise_on_error=False,
        )

    def planned(self, kind: str, label: str, target: Any) -> tuple[str, str, Plan]:
        """A Dagster run id to come, the name of the run that it will ask for, and the plan of that run."""
        run_id = str(uuid.uuid4())
        origin = f"{run_id}/{kind}"
        return run_id, run_name(kind, label, origin), plan(target, origin=origin)

    def ended(
        self,
        name: str,
        planned: Plan,
        payloads: Sequence[Payload],
        *,
        error: Failure | None = None,
        attempt: int = 1,
        ended: bool = True,
        private: bool | None = None,
    ) -> Path:
        """The directory of a run whose attempt said `payloads`, and ended unless it is to live on. `private=False`: as
        an image wrote that cut nothing."""
        directory = planned.class_root / "runs" / name
        directory.mkdir(parents=True, exist_ok=True)
        (directory / "spec.json").write_bytes(planned.spec.to_bytes())
        (directory / "gate.json").write_text(json.dumps({"outcome": "passed", "refusals": []}))
        (directory / "context.json").write_bytes(planned.context.to_bytes())
        attempts = Attempts(directory)
        attempts.start(backend="local", spec=planned.hash, writer="test", after=attempts.newest())
        writer = Writer(attempts.path(attempt), attempt=attempt, private=private)
        writer.send(Started(kind=planned.kind, spec=planned.hash, pid=1))
        for payload in payloads:
            writer.send(payload)
        if not ended:
            return directory
        outcome = "failed_code" if error else "succeeded"
        writer.close(outcome, error)
        attempts.end(attempt, outcome, writer="test", error=error)
        return directory

    def trained(self, steps: Sequence[int], *, recipe: str = "small", ended: bool = True) -> tuple[str, str, list[str]]:
        """A finished training: the Dagster run id that replays it, its name, the paths of its checkpoints."""
        run_id, name, planned = self.planned("train", recipe, get_recipe(recipe))
        paths = [f"/factory/public/runs/{name}/checkpoints/step-{step:08d}" for step in steps]
        saved = [
            CheckpointSaved(
                step=step,
                path=path,
                digest=checkpoint(self.lab.namespace.local(path), step),
                loss=1.0 / step,
                metrics={"unigram_loss": 2.0},
                tokens=step * 8,
            )
            for step, path in zip(steps, paths, strict=True)
        ]
        self.ended(name, planned, saved, ended=ended)
        return run_id, name, paths

    def saved(self, run: str, planned: Plan, step: int) -> str:
        """A finished training of that plan with one checkpoint; its path."""
        path = f"/factory/public/runs/{run}/checkpoints/step-{step:08d}"
        digest = checkpoint(self.lab.namespace.local(path), step)
        self.ended(run, planned, [CheckpointSaved(step=step, path=path, digest=digest, loss=1.0)])
        return path

    def scored(self, path: str, values: Sequence[float], *, label: str = "", **more: Any) -> tuple[str, str]:
        """A finished evaluation: the Dagster run id that replays it, and its name."""
        label = label or f"step-{int(path[-8:])}"
        run_id, name, planned = self.planned("evaluate", label, EvaluateTarget(path))
        self.ended(name, planned, [score(value) for value in values], **more)
        return run_id, name


def checkpoint(place: Path, step: int) -> str:
    """A checkpoint's record, and its digest."""
    place.mkdir(parents=True, exist_ok=True)
    content = {"step": step, "files": []}
    (place / "checkpoint.json").write_text(json.dumps({"content": content, "digest": digest(content)}))
    return digest(content)


def score(value: float) -> Scored:
    """The result of the quiz."""
    return Scored(
        suite="quiz",
        key="public/words/quiz",
        scorer="multiple_choice",
        metric="accuracy",
        value=value,
        low=value - 0.1,
        high=value + 0.1,
        items=12,
        extra={"chance": 0.5},
    )
