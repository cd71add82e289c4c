"""`aifactory doctor CLUSTER`: whether a launch on it would find what it needs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import typer

from aifactory.cli.failures import FAILED
from aifactory.cli.output import console, print_json
from aifactory.errors import FactoryError
from aifactory.project import Project

if TYPE_CHECKING:
    from aifactory.launch.doctor import Line, Sample

STYLES = {"ok": "green", "note": "cyan", "warning": "yellow", "broken": "bold red"}


def doctor_cluster(name: str, *, pod: bool, as_json: bool) -> None:
    """Print a line for each thing that was looked at, as soon as it is known. Raises FactoryError, code
    "unknown_cluster" or "unknown_image", and typer.Exit 1 if one is broken."""
    lines = _examined(name, pod)
    if as_json:
        found = list(lines)
        print_json({"cluster": name, "healthy": not _broken(found), "findings": [vars(one) for one in found]})
    else:
        found = [_shown(one) for one in lines]
        count = _broken(found)
        console().print(f"{name}: {f'{count} broken' if count else 'nothing is broken'}, {len(found)} looked at")
    if _broken(found):
        raise typer.Exit(FAILED)


def _examined(name: str, pod: bool) -> Iterator[Line]:
    from aifactory.launch.clusters.kube import KubeCluster
    from aifactory.launch.clusters.registry import load_clusters, unknown_place
    from aifactory.launch.doctor import examine

    project = Project.current()
    clusters = load_clusters(project)
    for refusal in unknown_place(name, clusters, ()):
        raise FactoryError(
            refusal.what, found=refusal.found, expected=refusal.expected, fix=refusal.fix, code=refusal.code
        )
    cluster = clusters[name]
    if not isinstance(cluster, KubeCluster):
        raise FactoryError(
            f"{name} is this machine, and no cluster to look at",
            found=f"backend {cluster.backend}",
            expected="a cluster of backend kuberay",
            fix="aifactory doctor, without a name, looks at this machine",
            code="unknown_cluster",
        )
    return examine(cluster, image=_image(project), samples=_samples(project)) if pod else examine(cluster)


def _image(project: Project) -> str:
    from aifactory.launch.images.pinned import FILE, load_pinned

    if (train := load_pinned(project).get("train")) is None:
        raise FactoryError(
            "a pod needs an image with Python, and no training image is pinned",
            found=f"{FILE} has no table [train]",
            fix=f"write [train] with digest and reference into {FILE}",
            code="unknown_image",
        )
    return train.reference


def _samples(project: Project) -> dict[str, Sample]:
    """The smallest current version of each class."""
    from aifactory.launch.doctor import Sample
    from aifactory.namespace import Namespace, access

    found: dict[str, Sample] = {}
    ns = Namespace.of(project)
    published = ns.keys()
    for key in published:
        try:
            sample = Sample.of(ns.resolve(key))
        except (FactoryError, OSError):
            continue  # `aifactory doctor` says what is wrong with a record
        of = access.of_key(str(key))
        if of not in found or sample.manifest_bytes < found[of].manifest_bytes:
            found[of] = sample
    return found


def _broken(found: list[Line]) -> int:
    return sum(one.state == "broken" for one in found)


def _shown(one: Line) -> Line:
    from rich.text import Text

    out = console()
    out.print(Text.assemble((f"{one.state:8} ", STYLES[one.state]), f"{one.name:24} {one.text}"))
    if one.fix:
        out.print(Text(f"{'':33} fix: {one.fix}"))
    return one
