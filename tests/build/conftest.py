"""A small lab for builds: a project whose assets the test writes, and builds in this process."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from aifactory.build import execute
from aifactory.channel import Audited, Commands, Job, Note, Payload, StageBuilt, Writer
from aifactory.channel.reader import Reader
from aifactory.datasets import Stage, build_config, check_config, find_stages
from aifactory.datasets.config import SNAPSHOT
from aifactory.errors import FactoryError
from aifactory.namespace import Namespace, Publications, Snapshot
from aifactory.project import Project
from aifactory.spec import Build, Context, ImageRef, InputRef, RunSpec


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
        self.runs = root / "runs"
        self.root.mkdir()
        monkeypatch.setenv("AIFACTORY_PROJECT", str(self.root))
        monkeypatch.setenv("AIFACTORY_ROOT", str(self.ns.root))
        monkeypatch.delenv("AIFACTORY_MIRROR", raising=False)
        self.number = 0

    def write(self, files: Mapping[str, str | bytes]) -> None:
        for name, text in files.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text if isinstance(text, bytes) else textwrap.dedent(text).encode())

    def stages(self) -> dict[str, Stage]:
        """As a new process would find them."""
        import sys

        for name in [name for name in sys.modules if name.partition(".")[0] in ("assets", "checks")]:
            del sys.modules[name]
        return find_stages(Project.current())

    def spec(self, stage: Stage, config: Build | None = None) -> RunSpec:
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
            config=config or build_config(stage),
            inputs=tuple(inputs),
            image=ImageRef(name="data", digest="0" * 64),
        )

    def job(self, spec: RunSpec, *, requester: str = "person:test", frozen: int | None = None) -> Job:
        self.number += 1
        directory = self.runs / f"build-test-{self.number:012d}"
        attempt = directory / "attempts" / "00000001"
        attempt.mkdir(parents=True)
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


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lab:
    return Lab(tmp_path, monkeypatch)


@pytest.fixture
def good(lab: Lab) -> Callable[..., Told]:
    """Build and expect success."""

    def build(key: str, **more: object) -> Told:
        told = lab.build(key, **more)  # type: ignore[arg-type]
        assert told.error is None, told.error
        return told

    return build
