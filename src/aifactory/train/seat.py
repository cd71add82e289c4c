"""A worker's place in a training: which attempt of which run, and which of how many it is. No torch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from aifactory.errors import FactoryError
from aifactory.namespace import Grant, Namespace
from aifactory.spec import InputRef, RunSpec, Train

if TYPE_CHECKING:
    from aifactory.channel.job import Job


@dataclass(frozen=True)
class Seat:
    """Picklable. `directory` is the run's, `namespace` what it reads and writes; `rank` of `world` workers,
    `local_rank` on this machine; `places` says where checkpoints are, by their roles; `grants` are those in force."""

    spec: RunSpec
    directory: Path
    attempt: int
    attempt_directory: Path
    namespace: Namespace
    rank: int = 0
    world: int = 1
    local_rank: int = 0
    places: Mapping[str, str] = field(default_factory=dict)
    grants: tuple[Grant, ...] = ()

    @classmethod
    def of(cls, job: Job) -> Seat:
        return cls(
            job.spec,
            job.directory,
            job.attempt,
            job.attempt_directory,
            job.namespace,
            places=dict(job.context.places),
            grants=job.context.grants,
        )

    @property
    def config(self) -> Train:
        config = self.spec.config
        if not isinstance(config, Train):
            raise FactoryError("this spec trains nothing", found=self.spec.kind, expected="train", code="kind")
        return config

    def input(self, kind: str) -> InputRef:
        """The spec's one input of this kind. Raises FactoryError (code "inputs") for none or several."""
        found = [ref for ref in self.spec.inputs if ref.kind == kind]
        if len(found) != 1:
            raise FactoryError(
                f"a training reads one {kind}",
                found=", ".join(ref.key for ref in found) or "none",
                expected=f"one input of kind {kind}",
                fix="name one source in the mix",
                code="inputs",
            )
        return found[0]
