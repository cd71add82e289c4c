"""What is known before it is decided: images and clusters, proofs, and smokes that were launched."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path

from aifactory.errors import FactoryError
from aifactory.launch.clusters.registry import AnyCluster
from aifactory.launch.gate.rules import PINNED
from aifactory.launch.images.pinned import load_pinned
from aifactory.launch.runs.summary import LIVE, RUNS, summary
from aifactory.launch.smoke.decide import Pair, Past, State
from aifactory.launch.smoke.settings import SmokeSettings
from aifactory.namespace import Namespace
from aifactory.project import Project
from aifactory.spec import Context, RunSpec, image_digest
from aifactory.spec.images import ImageName

IMAGE: ImageName = "train"
AT_IT = (*LIVE, "planned")


def clusters_of(settings: SmokeSettings, clusters: Mapping[str, AnyCluster]) -> list[str]:
    """Where images are smoked: those that the settings name, else all but this machine."""
    if settings.clusters is not None:
        return list(settings.clusters)
    return [name for name, cluster in clusters.items() if not cluster.laptop]


def pairs(
    project: Project, settings: SmokeSettings, clusters: Mapping[str, AnyCluster], down: Mapping[str, str]
) -> list[Pair]:
    """The image that images.toml pins, on each cluster; on this machine the one that the checkout makes.

    Raises FactoryError, code "image_not_pinned", where clusters are to be smoked and no image is pinned by digest.
    """
    found = []
    for name in clusters_of(settings, clusters):
        cluster = clusters.get(name)
        if cluster is not None and cluster.laptop:
            found.append(Pair(image_digest(project, IMAGE), "", name, down.get(name, "")))
        else:
            digest, oci = pinned(project)
            found.append(Pair(digest, oci, name, down.get(name, "")))
    return found


def pinned(project: Project) -> tuple[str, str]:
    """The digests of the pinned training image: that of its build inputs, and that which is pulled."""
    entry = load_pinned(project).get(IMAGE)
    oci = PINNED.search(entry.reference) if entry is not None else None
    if entry is None or oci is None:
        raise FactoryError(
            f"images.toml pins no image {IMAGE}",
            found="no entry" if entry is None else f"{entry.reference}, which may move",
            expected='digest = "<64 digits>", reference = "<repository>@sha256:<64 digits>"',
            fix=f"push the image and write its digests under [{IMAGE}] in images.toml",
            code="image_not_pinned",
        )
    return entry.digest, oci[1]


def history(ns: Namespace) -> list[Past]:
    """The smokes in the namespace, oldest first; what can't be read is passed over (`aifactory doctor` names it)."""
    return sorted(_past(ns), key=lambda one: one.at)


def _past(ns: Namespace) -> Iterator[Past]:
    for root in ns.class_roots("public"):
        for directory in (root / RUNS).glob("smoke-*"):
            try:
                yield past(directory, away=ns.is_away(directory))
            except (FactoryError, OSError):
                continue


def past(directory: Path, *, away: bool = False) -> Past:
    """One smoke by its run's directory. Raises FactoryError for one that can't be read."""
    spec, context = RunSpec.load(directory / "spec.json"), Context.load(directory / "context.json")
    seen = summary(directory, away=away)
    state: State = "green" if seen.state == "succeeded" else "live" if seen.state in AT_IT else "red"
    at = datetime.fromisoformat(seen.started) if seen.started else _made(directory)
    if seen.state == "planned" and (datetime.now(UTC) - at).total_seconds() > STARTING_SECONDS:
        state = "red"  # whoever was about to start it is gone
    return Past(directory.name, spec.image.digest, context.cluster, state, at, seen.state, link_of(context, directory))


STARTING_SECONDS = 3600.0
"""How long a smoke without an attempt counts as live: images are made before the first one."""


def link_of(context: Context, directory: Path) -> str:
    """Where a person reads of a run: its page in Dagster, if Dagster asked for it, else its report."""
    dagster = (context.origin or "").partition("/")[0]
    return f"/runs/{dagster}" if dagster else f"/factory/public/{RUNS}/{directory.name}/report.json"


def _made(directory: Path) -> datetime:
    return datetime.fromtimestamp((directory / "context.json").stat().st_mtime, UTC)
