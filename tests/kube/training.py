"""A small training on a cluster with a real node, by the launcher: what a researcher's launch would do."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aifactory.channel import CheckpointSaved, Message
from aifactory.launch import Plan, RunResult, launch
from aifactory.launch.images.copies import LocalImage
from aifactory.launch.images.verifications import Verification, record
from aifactory.project import Project
from aifactory.spec import Context, ImageRef, InputRef, RunSpec, Train, freeze
from aifactory.train.metrics import StepMetrics, read_metrics
from tests.kube import table
from tests.kube.space import Space
from tests.train.lab import Lab, make_lab

SECONDS = 480.0
"""How long a training on pods may take, most of which is Ray's start."""


@dataclass
class Launched:
    """A launch that goes on beside the test; `lines` are its changes, `steps` the checkpoints that it was told of."""

    work: Callable[[Launched], RunResult]
    lines: list[str] = field(default_factory=list)
    steps: list[int] = field(default_factory=list)
    _found: list[RunResult | BaseException] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._thread = threading.Thread(target=self._run, daemon=True, name="launch")
        self._thread.start()

    def _run(self) -> None:
        try:
            self._found.append(self.work(self))
        except BaseException as error:
            self._found.append(error)

    def message(self, message: Message) -> None:
        if isinstance(message.payload, CheckpointSaved):
            self.steps.append(message.payload.step)

    def change(self, line: str) -> None:
        print(f"{time.strftime('%T')} {line}", flush=True)
        self.lines.append(line)

    @property
    def alive(self) -> bool:
        return self._thread.is_alive()

    def said(self, text: str) -> bool:
        return any(text in line for line in self.lines)

    def result(self, seconds: float = SECONDS) -> RunResult:
        self._thread.join(seconds)
        assert self._found, f"it goes on after {seconds:.0f} s; last: {self.lines[-3:]}"
        if isinstance(found := self._found[0], BaseException):
            raise found
        return found


class Training:
    """A namespace tree with tokens and suites, a project whose cluster `lab` is the space, the image on its node."""

    def __init__(self, root: Path, space: Space, image: LocalImage, oci: str):
        here = Project.current()
        self.space, self.image = space, image
        self.lab: Lab = make_lab(root / "namespace")
        self.ns = self.lab.namespace
        (root / "project").mkdir()
        self.project = Project(
            root=root / "project", state=here.state, envs=here.envs, namespace=self.ns.root, package=here.package
        )
        self.declare()
        (self.project.root / "images.toml").write_text(f'[train]\ndigest = "{image.digest}"\nreference = "{oci}"\n')
        proof = Verification(image.digest, oci.partition("@")[2], "smoke-lab-000000000001", "lab")
        record(self.ns, "public", "train", proof)

    def declare(self, **changes: Any) -> None:
        """Write clusters.toml; again after the space got a queue."""
        rows = {"shapes": table.REAL, "stop_seconds": 20.0, **changes}
        table.write(self.project.root, lab=table.table(self.space, self.ns.root, **rows))

    def plan(self, config: Train, cluster: str = "lab", inputs: tuple[InputRef, ...] = (), **context: object) -> Plan:
        """A frozen training; the same config is the same spec on every cluster."""
        spec = RunSpec(
            kind="train",
            config=config,
            inputs=inputs or (self.lab.tokens, self.lab.tokenizer),
            image=ImageRef(name="train", digest=self.image.digest),
        )
        known = Context.model_validate({"cluster": cluster, "root": str(self.ns.root), "commit": "0" * 40, **context})
        return Plan(spec, known, spec.hash, freeze(self.ns, spec, known.resolution()), "tiny")

    @contextmanager
    def launching(self, plan: Plan, run: str, tries: int = 1) -> Iterator[Launched]:
        """A launch beside the test; one that still lives at the end is stopped."""
        over = threading.Event()

        def work(launched: Launched) -> RunResult:
            return launch(
                plan,
                run=run,
                project=self.project,
                ns=self.ns,
                on_message=launched.message,
                on_change=launched.change,
                stop=lambda: over.is_set(),
                tries=tries,
            )

        launched = Launched(work)
        try:
            yield launched
        finally:
            over.set()
            launched._thread.join(120)

    def losses(self, result: RunResult) -> list[float]:
        """Of every step, in the order of steps: what the newest attempt that made it says."""
        found: dict[int, float] = {}
        for one in self._metrics(result).values():
            found |= {step.step: step.loss for step in one}
        return [found[step] for step in sorted(found)]

    def steps(self, result: RunResult) -> dict[int, list[int]]:
        """The steps that each attempt made."""
        return {attempt: [step.step for step in one] for attempt, one in self._metrics(result).items()}

    def _metrics(self, result: RunResult) -> dict[int, list[StepMetrics]]:
        files = sorted((result.directory / "attempts").glob("*/metrics.jsonl"))
        return {int(path.parent.name): list(read_metrics(path)) for path in files}

    def checkpoints(self, result: RunResult) -> dict[str, str]:
        """Digest of each checkpoint, by its folder's name."""
        return {
            path.parent.name: json.loads(path.read_bytes())["digest"]
            for path in sorted((result.directory / "checkpoints").glob("step-*/checkpoint.json"))
        }
