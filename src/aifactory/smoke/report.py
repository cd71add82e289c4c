"""The report of a smoke: what each step found, and how long it took."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import Any

from aifactory.channel import Note, Progress
from aifactory.channel.job import Job
from aifactory.errors import FactoryError

REPORT = "report.json"
SCHEMA = 1


@dataclass
class Step:
    """`outcome` is "green", "red" or "not reached"; `text` says in a line what was found; `facts` are figures."""

    name: str
    outcome: str = "not reached"
    seconds: float = 0.0
    text: str = ""
    facts: dict[str, Any] = field(default_factory=dict)

    def found(self, text: str, **facts: Any) -> None:
        """What the step found."""
        self.text, self.facts = text, facts


class Report:
    """The steps of one smoke, in order; the file is written anew after each of them."""

    def __init__(self, job: Job, names: Sequence[str]):
        self._job = job
        self._path = job.directory / REPORT
        self.steps = [Step(name) for name in names]
        self._began = time.monotonic()

    @contextmanager
    def step(self, name: str) -> Iterator[Step]:
        """Around the work of a step. What it raises makes the step red, and is raised as FactoryError "smoke" with
        the reason; a cancellation goes on as it is."""
        (step,) = [one for one in self.steps if one.name == name]
        began, done = time.monotonic(), self.steps.index(step)
        self._job.check_stop()
        self._job.writer.send(Progress(text=name, done=done, total=len(self.steps), unit="steps"))
        try:
            yield step
            step.outcome = "green"
        except Exception as error:
            step.outcome = "red"
            step.text = str(error) if isinstance(error, FactoryError) else f"{type(error).__name__}: {error}"
            raise FactoryError(
                f"the smoke is red at the step {name!r}: {step.text}",
                expected="every step green",
                fix=f"read {REPORT} and the logs in the run's directory; the image stays unverified here",
                code="smoke",
            ) from error
        finally:
            step.seconds = round(time.monotonic() - began, 3)
            self._write()
            self._job.writer.send(Note(text=f"{name}: {step.outcome} in {step.seconds:.1f} s: {step.text}"))

    def _write(self) -> None:
        """In place of the one before, whole or not at all."""
        job = self._job
        document = {
            "schema": SCHEMA,
            "run": job.directory.name,
            "attempt": job.attempt,
            "spec": job.spec.hash,
            "image": job.spec.image.digest,
            "cluster": job.context.cluster,
            "seconds": round(time.monotonic() - self._began, 3),
            "green": all(step.outcome == "green" for step in self.steps),
            "steps": [asdict(step) for step in self.steps],
        }
        beside = self._path.with_name(f".{REPORT}.{job.attempt}")
        beside.write_text(json.dumps(document, indent=2, sort_keys=True) + "\n")
        beside.replace(self._path)
