"""A cluster of backend `kuberay`, as its table of `clusters.toml` says. Nothing here touches the network."""

from __future__ import annotations

from typing import Annotated, Final, Literal, Self

from pydantic import Field, field_validator, model_validator

from aifactory.errors import FactoryError
from aifactory.launch.clusters.shape import Shape, Strict
from aifactory.launch.runs.retries import Retries
from aifactory.namespace import access

DNS = r"^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$"
LABEL = r"^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$"
Name = Annotated[str, Field(pattern=DNS)]
HERE: Final = "here"
"""The site whose tree is the one that this machine has: its root, or what it mounts."""
Queue = Annotated[str, Field(pattern=r"^[a-z0-9]([-a-z0-9.]{0,61}[a-z0-9])?$")]


class FileToken(Strict):
    """A file that may be replaced at any time: it is read again when a request is refused."""

    source: Literal["file"]
    path: str


class EnvToken(Strict):
    """An environment variable of the control plane."""

    source: Literal["env"]
    variable: str


class ExecToken(Strict):
    """A command that prints an ExecCredential, as in a kubeconfig."""

    source: Literal["exec"]
    command: tuple[str, ...] = Field(min_length=1)


class InClusterToken(Strict):
    """The service account of the pod that the control plane runs in."""

    source: Literal["in-cluster"]


Token = Annotated[FileToken | EnvToken | ExecToken | InClusterToken, Field(discriminator="source")]


class Claim(Strict):
    """A PersistentVolumeClaim of the cluster's namespace. `prefix`: where the tree stands in it."""

    kind: Literal["pvc"]
    claim: Name
    prefix: str = ""


class HostPath(Strict):
    """A directory of every node."""

    kind: Literal["hostPath"]
    path: str = Field(pattern=r"^/")
    prefix: str = ""


class Csi(Strict):
    """A volume that a CSI driver mounts for the pod."""

    kind: Literal["csi"]
    driver: Name
    attributes: dict[str, str] = Field(default_factory=dict)
    prefix: str = ""


Volume = Annotated[Claim | HostPath | Csi, Field(discriminator="kind")]
Kind = Literal["build", "train", "evaluate", "smoke"]


class Limits(Strict):
    """The most that one run may ask for, `gpus` and `cpus` for all its workers together; None: no limit of its own. The
    gate holds a run to them: a shape may stand over a limit that was lowered for a while."""

    gpus: int | None = Field(default=None, ge=0)
    cpus: int | None = Field(default=None, ge=1)
    hours: float = Field(default=24 * 14, gt=0)

    def counted(self) -> tuple[tuple[Literal["gpus", "cpus"], int | None], ...]:
        """Those that a shape asks for by number."""
        return (("gpus", self.gpus), ("cpus", self.cpus))


class KubeCluster(Strict):
    """A Kubernetes cluster with KubeRay. `volumes` and `accounts` are by class (`public`, `private/<project>`);
    `usual` names the shape of each kind of run that asks for none. `server` may be left out where the control plane is
    a pod of that cluster. Times are in seconds."""

    name: str
    backend: Literal["kuberay"]
    server: str = Field(default="", pattern=r"^(https://|$)")
    ca_file: str | None = None
    token: Token
    namespace: str = Field(pattern=LABEL)
    site: str = Field(default=HERE, min_length=1)
    registry: str = ""
    ray_version: str = Field(pattern=r"^\d+\.\d+\.\d+$")
    scheduler: Literal["kai", "kueue", "none"]
    queues: tuple[Queue, ...] = ()
    priorities: tuple[Queue, ...] = ()
    volumes: dict[str, Volume]
    accounts: dict[str, Name]
    shapes: dict[str, Shape] = Field(min_length=1)
    usual: dict[Kind, str] = Field(default_factory=dict)
    limits: Limits = Limits()
    stall_seconds: float = Field(default=3600.0, gt=0)
    queue_seconds: int = Field(default=7 * 24 * 3600, ge=1)
    start_seconds: int = Field(default=3600, ge=1)
    drain_seconds: int = Field(default=300, ge=30)
    stop_seconds: float = Field(default=20.0, ge=0)
    patience_seconds: float = Field(default=600.0, gt=0)
    retries: Retries = Retries(preempted=20, infrastructure=2, wait_seconds=30.0)

    @property
    def laptop(self) -> bool:
        """Whether a run there stays on this machine."""
        return False

    @field_validator("volumes", "accounts")
    @classmethod
    def _classes(cls, table: dict[str, object]) -> dict[str, object]:
        for name in table:
            try:
                access.validate(name)
            except FactoryError as error:
                raise ValueError(f"{name!r} is no class: public or private/<project>") from error
        return table

    @model_validator(mode="after")
    def _agrees(self) -> Self:
        if not self.server and not isinstance(self.token, InClusterToken):
            raise ValueError("server is missing: the https address of the API server")
        if self.scheduler == "none" and (self.queues or self.priorities):
            raise ValueError('scheduler = "none" has no queues and no priorities')
        if self.scheduler != "none" and not self.queues:
            raise ValueError(f'scheduler = "{self.scheduler}" needs queues, the usual one first')
        for kind, shape in self.usual.items():
            if shape not in self.shapes:
                raise ValueError(f"usual.{kind} = {shape!r}, which is none of {', '.join(sorted(self.shapes))}")
        return self
