"""A small lab for builds: a project whose assets the test writes, and builds in this process."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from aifactory.build import execute
from aifactory.channel import Audited, Commands, Job, Note, Payload, StageBuilt, Writer
from aifactory.channel.reader import Reader
from aifactory.datasets import Stage, build_config, check_config, find_stages
from aifactory.datasets.config import SNAPSHOT
from aifactory.errors import FactoryError
from aifactory.launch import GateRefused
from aifactory.launch.plans.restricted import with_zone
from aifactory.namespace import Namespace, Publications, Snapshot
from aifactory.project import Project
from aifactory.spec import Build, Context, ImageRef, InputRef, RunSpec
from aifactory.store import Journal


@dataclass
class Told:
    """What one build said, and how it ended."""

    payloads: list[Payload]
    error: FactoryError | None
    job: Job

    @property
    def built(self) -> StageBuilt:
        (found,) = [one for one in self.payloads if isinstance(one, StageBuilt)]
        return found

    @property
    def audits(self) -> dict[str, Audited]:
        return {one.check: one for one in self.payloads if isinstance(one, Audited)}

    @property
    def notes(self) -> list[str]:
        return [one.text for one in self.payloads if isinstance(one, Note)]


class Lab:
    """`write` puts files into the project, `stages` loads them, `build` runs one stage's build as a run would."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch):
        self.root = root / "project"
        self.ns = Namespace(root / "namespace")
        self.root.mkdir()
        monkeypatch.setenv("AIFACTORY_PROJECT", str(self.root))
        monkeypatch.setenv("AIFACTORY_ROOT", str(self.ns.root))
        monkeypatch.delenv("AIFACTORY_MIRROR", raising=False)
        monkeypatch.setattr(sys, "path", list(sys.path))
        monkeypatch.setattr(sys, "dont_write_bytecode", True)
        self.number = 0

    def write(self, files: Mapping[str, str | bytes]) -> None:
        for name, text in files.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text if isinstance(text, bytes) else textwrap.dedent(text).encode())

    def stages(self) -> dict[str, Stage]:
        """As a new process would find them."""
        for name in [name for name in sys.modules if name.partition(".")[0] in ("assets", "checks")]:
            del sys.modules[name]
        return find_stages(Project.current())

    def spec(self, stage: Stage, config: Build | None = None) -> RunSpec:
        config = config or build_config(stage)
        if stage.factory == "crossing":
            # What a planner refuses, a build has to refuse by itself too.
            with suppress(GateRefused):
                config = with_zone(config, Project.current())
        inputs = [
            InputRef.model_validate(
                {
                    "role": edge.role,
                    "kind": edge.kind,
                    "key": edge.key,
                    "version": self.current(edge.key).version,
                    "part": edge.part,
                }
            )
            for edge in stage.edges
        ]
        return RunSpec(
            kind="build",
            config=config,
            inputs=tuple(inputs),
            image=ImageRef(name="data", digest="0" * 64),
        )

    def job(self, spec: RunSpec, *, requester: str = "person:test", frozen: int | None = None) -> Job:
        self.number += 1
        directory = self.ns.class_root(spec.build.access) / "runs" / f"build-test-{self.number:012d}"
        attempt = directory / "attempts" / "00000001"
        attempt.mkdir(parents=True)
        _begin(directory, spec)
        places = {} if frozen is None else {"@journal": str(frozen)}
        return Job(
            spec=spec,
            context=Context(requester=requester, places=places),
            directory=directory,
            attempt=1,
            attempt_directory=attempt,
            namespace=self.ns,
            writer=Writer(attempt),
            commands=Commands(attempt),
        )

    def run(self, job: Job) -> Told:
        error = None
        try:
            execute(job)
        except FactoryError as found:
            error = found
        job.writer.close("succeeded" if error is None else "failed_code")
        messages = Reader(job.attempt_directory).new()
        return Told([message.payload for message in messages], error, job)

    def build(self, key: str, *, requester: str = "person:test", frozen: int | None = None) -> Told:
        """Load the assets as they are now and build one stage."""
        stage = self.stages()[key]
        return self.run(self.job(self.spec(stage), requester=requester, frozen=frozen))

    def recorded(self, key: str, *, access: str = "public") -> Path:
        """The directory of an attempt at building one stage, which nobody has begun."""
        spec = self.spec(self.stages()[key])
        self.number += 1
        directory = self.ns.class_root(access) / "runs" / f"build-test-{self.number:012d}"
        attempt = directory / "attempts" / "00000001"
        attempt.mkdir(parents=True)
        (directory / "spec.json").write_bytes(spec.to_bytes())
        (directory / "context.json").write_bytes(Context(requester="person:test").to_bytes())
        _begin(directory, spec)
        return attempt

    def process(self, key: str, *, access: str = "public") -> tuple[subprocess.Popen[str], Path]:
        """The same in a process of its own, through the entrypoint of every run; and its attempt's directory."""
        attempt = self.recorded(key, access=access)
        directory = attempt.parents[1]
        command = [sys.executable, "-m", "aifactory.run", "--run", str(directory), "--attempt", "1"]
        return subprocess.Popen(command, cwd=attempt, stderr=subprocess.PIPE, text=True), attempt

    def check(self, key: str, *names: str) -> Told:
        """Run checks alone on the current snapshot."""
        stage = self.stages()[key]
        ref = InputRef(role=SNAPSHOT, kind="dataset", key=key, version=self.current(key).version)
        spec = RunSpec(
            kind="build", config=check_config(stage, names), inputs=(ref,), image=ImageRef(name="data", digest="0" * 64)
        )
        return self.run(self.job(spec))

    def current(self, key: str) -> Snapshot:
        return self.ns.resolve(key)

    def published(self, key: str) -> list[str]:
        return [one.version for one in Publications(self.ns, key).all()]


def rows_stage(body: str, *, annotation: str = "Iterator[Row]", checks: str = "", more: str = "") -> dict[str, str]:
    """One file with a source of three lines (a, b, c) and a stage `clean` with this body."""
    head = """
from __future__ import annotations
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
import pyarrow as pa
from pydantic import BaseModel
from aifactory.datasets import *
from aifactory.datasets import split
from aifactory.spec import BitsPerByte

@dataclass(frozen=True)
class Row:
    id: int
    text: str

raw = source(file="words.txt")
"""
    text = textwrap.indent(textwrap.dedent(body).strip(), "    ")
    stage = f"@dataset(checks=[{checks}])\ndef clean(raw: Path) -> {annotation}:\n{text}\n"
    return {"assets/public/words.py": head + stage + textwrap.dedent(more), "assets/public/words.txt": "a\nb\nc\n"}


def _begin(directory: Path, spec: RunSpec) -> None:
    start = {"event": "start", "attempt": 1, "spec": spec.hash}
    Journal(directory / "attempts" / "@journal").append(start, writer="test")
