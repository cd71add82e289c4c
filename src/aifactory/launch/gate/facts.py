"""What the gate looks at: plain values, gathered before it is asked."""

from __future__ import annotations

from dataclasses import dataclass

from aifactory.launch.sites.presence import Presence
from aifactory.namespace import Grant

type Shape = tuple[tuple[str, int], ...]
"""The fields of a model that its weights depend on, sorted by name."""


@dataclass(frozen=True)
class CheckFact:
    """What is known of one blocking check on one version. `passed` None: it has no result on this version; `elsewhere`
    then names the version (16 digits) that its newest result is of, if there is one."""

    check: str
    passed: bool | None
    reason: str = ""
    run: str = ""
    elsewhere: str = ""


@dataclass(frozen=True)
class InputFact:
    """One input. `published`: its journal has this version. `problem`: why its bytes can't be read, if so.

    `checks`: the blocking checks that its publication lists, and every other blocking check that is red. `shape`: that
    of the model in a checkpoint or a line. `presence`: whether it is at the site of the cluster; None where that is
    here.
    """

    role: str
    kind: str
    key: str
    version: str
    access: str
    published: bool
    benchmark: bool = False
    problem: str = ""
    checks: tuple[CheckFact, ...] = ()
    shape: Shape | None = None
    presence: Presence | None = None

    @property
    def name(self) -> str:
        return f"{self.key}@{self.version[:16]}"


@dataclass(frozen=True)
class ImageFact:
    """The image of the spec. `schema` is the digest of the config types that its code reads a spec with; `reference`
    what `images.toml` says that clusters run for it, `pinned` the digest of build inputs that stands there; `proofs`
    the OCI digests under which a run has verified it on the run's cluster; `rebuild` the command that makes a missing
    one; `ray` the version of Ray that its lock pins, empty without one."""

    name: str = ""
    digest: str = ""
    available: bool = True
    rebuild: str = ""
    schema: str = ""
    reference: str = ""
    pinned: str = ""
    proofs: tuple[str, ...] = ()
    ray: str = ""


@dataclass(frozen=True)
class KubeFact:
    """What a cluster of backend `kuberay` has, as `clusters.toml` says, and what the run asks of it.

    `shape` is the one asked for or the usual one, `gpus` and `cpus` those of all its workers, `hours` the deadline
    asked for, each beside the most that one run may have (None: no limit); `volumes` and `accounts` are classes; `ray`
    is the version that its pods are said to run.
    """

    shape: str | None
    gpus: int = 0
    cpus: int = 0
    hours: float = 0.0
    most_gpus: int | None = None
    most_cpus: int | None = None
    most_hours: float | None = None
    volumes: tuple[str, ...] = ()
    accounts: tuple[str, ...] = ()
    ray: str = ""


@dataclass(frozen=True)
class Facts:
    """All that the gate looks at.

    `output` is the key (or line) that is written, `access` its class; `owner` the hash of another spec that has the
    run's directory; `leaves` whether the run leaves the laptop; `schema` the digest of the config types that resolved
    the spec; `commit` and `dirty` (the digest of the diff) what it was resolved from; `shape` that of its model;
    `pods` the shape that is asked for its pods, one of `shapes`; `kube` what a Kubernetes cluster has; `site` that
    of the cluster, one of `sites`; `grants` are those in force, `place` is the class that the run's directory stands
    under, `suites` are the keys that a training's checkpoints will be scored on.
    """

    run: str
    kind: str
    spec: str
    output: str
    access: str
    cluster: str
    clusters: tuple[str, ...]
    inputs: tuple[InputFact, ...] = ()
    queue: str | None = None
    priority: str | None = None
    queues: tuple[str, ...] = ()
    priorities: tuple[str, ...] = ()
    pods: str | None = None
    shapes: tuple[str, ...] = ()
    kube: KubeFact | None = None
    site: str = ""
    sites: tuple[str, ...] = ()
    leaves: bool = False
    image: ImageFact = ImageFact()
    schema: str = ""
    commit: str | None = None
    dirty: str | None = None
    shape: Shape | None = None
    owner: str | None = None
    grants: tuple[Grant, ...] = ()
    place: str = ""
    suites: tuple[str, ...] = ()
