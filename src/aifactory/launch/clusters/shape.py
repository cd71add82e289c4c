"""Shapes: what the pods of a run are given, by name, so that a run asks for `8xh200` and not for resources."""

from __future__ import annotations

import re
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

CREDENTIAL = re.compile(r"TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL|(^|_)KEY($|_)", re.IGNORECASE)
QUANTITY = r"^[1-9][0-9]*(Mi|Gi|Ti)$"


class Strict(BaseModel):
    """A table of `clusters.toml`: fields that it doesn't know are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Toleration(Strict):
    """As in a pod's spec."""

    key: str
    operator: Literal["Exists", "Equal"] = "Exists"
    value: str | None = None
    effect: Literal["NoSchedule", "PreferNoSchedule", "NoExecute"] | None = None


class Topology(Strict):
    """KAI's topology: the name of its object, and the node label of the level that the gang shares."""

    name: str
    level: str
    required: bool = False


class Shape(Strict):
    """`workers` pods of `gpus`, `cpus` and `memory` each, and a head that drives them; with no workers the head has all
    of it and does the work. `rdma` is the name of a device plugin's resource; `shm` the size of /dev/shm, which counts
    as memory; `grace_seconds` how long an evicted pod may take to save."""

    workers: int = Field(default=1, ge=0)
    gpus: int = Field(default=0, ge=0)
    cpus: int = Field(ge=1)
    memory: str = Field(pattern=QUANTITY)
    head_cpus: int = Field(default=2, ge=1)
    head_memory: str = Field(default="8Gi", pattern=QUANTITY)
    shm: str = Field(default="2Gi", pattern=QUANTITY)
    gpu_resource: str = "nvidia.com/gpu"
    rdma: str | None = None
    node_selector: dict[str, str] = Field(default_factory=dict)
    tolerations: tuple[Toleration, ...] = ()
    topology: Topology | None = None
    env: dict[str, str] = Field(default_factory=dict)
    grace_seconds: int = Field(default=120, ge=30)

    def asks(self, of: Literal["gpus", "cpus"]) -> int:
        """Of all that do the work: the workers, or a head that is alone."""
        return int(getattr(self, of)) * max(self.workers, 1)

    @field_validator("env")
    @classmethod
    def _plain(cls, env: dict[str, str]) -> dict[str, str]:
        for name, value in env.items():
            if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
                raise ValueError(f"{name} is no name of a variable")
            if CREDENTIAL.search(name):
                raise ValueError(f"{name} looks like a credential: anyone who reads manifests would see it")
            if "$" in value:
                raise ValueError(f"{name} holds a $, which Kubernetes or a shell may expand")
            if name.startswith(("AIFACTORY_", "PYTHON", "RAY_")):
                raise ValueError(f"{name} is set by the launcher")
        return env
