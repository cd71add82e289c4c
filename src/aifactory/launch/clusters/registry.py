"""Clusters: where a run can be sent, one table each in `clusters.toml`."""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Collection, Iterable
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from aifactory.errors import FactoryError
from aifactory.launch.clusters.kube import HERE, KubeCluster
from aifactory.launch.refusal import Refusal
from aifactory.project import Project

FILE = "clusters.toml"
FEW = 5


class Cluster(BaseModel):
    """A place that is this machine. `queues`, `priorities` and `shapes` are the names that a run may ask for: `local`
    has none. `stall_seconds`: how long an attempt may say nothing, neither message nor log line, before it is ended,
    unless its launch says else."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    backend: Literal["local"]
    queues: tuple[str, ...] = ()
    priorities: tuple[str, ...] = ()
    shapes: tuple[str, ...] = ()
    site: Literal["here"] = HERE
    stall_seconds: float = Field(default=3600.0, gt=0)

    @property
    def laptop(self) -> bool:
        """Whether a run there stays on this machine."""
        return self.backend == "local"


type AnyCluster = Cluster | KubeCluster


def load_clusters(project: Project) -> dict[str, AnyCluster]:
    """Clusters by name, checked without the network. Raises FactoryError, code "clusters", naming the table and the
    field that is wrong."""
    path = project.root / FILE
    try:
        tables = tomllib.loads(path.read_text())
    except FileNotFoundError:
        raise FactoryError(
            f"{path} is missing", fix='make it, with at least:  [local]  backend = "local"', code="clusters"
        ) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise FactoryError(f"{path} is not TOML", found=error, fix="correct that line", code="clusters") from error
    clusters: dict[str, AnyCluster] = {}
    for name, table in tables.items():
        if not isinstance(table, dict):
            raise FactoryError(
                f"{path}: {name} is not a table", found=repr(table), expected=f"[{name}]", code="clusters"
            )
        try:
            clusters[name] = _kind(table)(name=name, **table)
        except (ValidationError, TypeError) as error:
            raise FactoryError(f"{path}: cluster {name!r} is wrong", found=_first(error), code="clusters") from None
    return clusters


def _kind(table: dict[str, object]) -> type[Cluster] | type[KubeCluster]:
    return KubeCluster if table.get("backend") == "kuberay" else Cluster


def unknown_place(
    cluster: str, clusters: Collection[str], asked: Iterable[tuple[str, str | None, Collection[str]]]
) -> list[Refusal]:
    """Of a cluster that is none of `clusters`, and of what a run asks of it: the field, its value, those that exist."""
    if cluster not in clusters:
        return [
            Refusal(
                "unknown_cluster",
                f"there is no cluster {cluster!r}",
                found=cluster,
                expected=close_matches(cluster, list(clusters)),
                fix="name one of clusters.toml, or add it there",
            )
        ]
    return [
        Refusal(
            f"no_{name}",
            f"the cluster {cluster} has no {name} {value!r}",
            found=value,
            expected=close_matches(value, list(known)),
            fix=f"leave {name} out" if not known else f"name one that {cluster} has",
        )
        for name, value, known in asked
        if value is not None and value not in known
    ]


def close_matches(name: str, known: list[str]) -> str:
    """Names like `name`; where none is, all of a few, and else how many there are with the first ones."""
    every = sorted(set(known))
    if close := difflib.get_close_matches(name, every, n=3):
        return ", ".join(close)
    few = ", ".join(every[:FEW])
    return f"one of {len(every)}, such as {few}" if len(every) > FEW else few or "none"


def _first(error: ValidationError | TypeError) -> str:
    if isinstance(error, TypeError):
        return str(error)
    problem = error.errors(include_url=False)[0]
    said, value = f"{'.'.join(map(str, problem['loc']))}: {problem['msg']}", problem["input"]
    # A table may hold what somebody wrote there by mistake: a token, a password among the variables.
    shown = isinstance(value, str | int | float) and "token" not in problem["loc"]
    return f"{said} (found {value!r})" if shown else said
