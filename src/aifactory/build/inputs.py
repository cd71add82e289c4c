"""The inputs of a build: resolved once, verified to the byte, and counted into the build key."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from aifactory.channel import Job
from aifactory.datasets import Stage
from aifactory.namespace import Namespace, Snapshot
from aifactory.spec import Build, RunSpec
from aifactory.spec.input_ref import InputRef
from aifactory.store import digest


@dataclass(frozen=True)
class Opened:
    """One verified input: what the spec says, and the snapshot."""

    ref: InputRef
    snapshot: Snapshot

    @property
    def part(self) -> str | None:
        return self.ref.part


@dataclass(frozen=True)
class Work:
    """What a builder gets: the job, the stage in the image's code, and its inputs by role."""

    job: Job
    stage: Stage
    inputs: Mapping[str, Opened]

    @property
    def build(self) -> Build:
        return self.job.spec.build

    @property
    def parameters(self) -> dict[str, Any]:
        """The stage's parameters, as the spec has them."""
        return dict(self.build.parameters)

    @property
    def public(self) -> bool:
        """Whether values may be shown."""
        return self.build.access == "public"


def open_inputs(ns: Namespace, spec: RunSpec) -> dict[str, Opened]:
    """Every input at the version that the spec names, by role; nothing of it is read yet."""
    return {ref.role: Opened(ref, ns.resolve(ref.key, ref.version)) for ref in spec.inputs}


def verify(inputs: Mapping[str, Opened]) -> None:
    """Read every byte that the build will read. FactoryError (code "integrity" or "missing") names the file."""
    for opened in inputs.values():
        shared = [entry for entry in opened.snapshot.manifest.files if entry.part is None]
        opened.snapshot.verify(shared + opened.snapshot.files(opened.part) if opened.part else None)


@contextmanager
def held(inputs: Mapping[str, Opened]) -> Iterator[None]:
    """Inside, inputs are read. Afterwards they must still be what was verified: FactoryError (code "missing",
    "integrity" or "escape") for one that was deleted, changed or replaced by a symlink meanwhile, also where the reader
    itself broke on it."""
    try:
        yield
    except Exception:
        for opened in inputs.values():
            opened.snapshot.look()
        raise
    for opened in inputs.values():
        opened.snapshot.look()


def build_key(spec: RunSpec, outside: Mapping[str, str] | None = None) -> str:
    """64 hex digits over the input versions, the code version, and the parameters: equal keys make equal content.
    `outside` says what is read from elsewhere than the namespace, where anything is."""
    build = spec.build
    return digest(
        {
            **({"outside": dict(outside)} if outside else {}),
            "inputs": {ref.role: [ref.key, ref.version, ref.part] for ref in spec.inputs},
            "code": build.code_version,
            "parameters": build.parameters,
            "kind": build.kind,
            "benchmark": build.benchmark,
        }
    )
