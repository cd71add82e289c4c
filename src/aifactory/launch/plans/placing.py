"""Where a plan is to run, as `clusters.toml` and `images.toml` have it when it is planned."""

from __future__ import annotations

from aifactory.launch.clusters.kube import KubeCluster
from aifactory.launch.clusters.registry import load_clusters, unknown_place
from aifactory.launch.images.pinned import load_pinned
from aifactory.launch.refusal import Refusal
from aifactory.project import Project
from aifactory.spec import Context, RunSpec


def placed(cluster: str, shape: str | None, spec: RunSpec, project: Project) -> dict[str, str | None]:
    """The fields of the context that the cluster decides: `shape` (the one asked for, else the usual one), `site` and
    `image_reference`, so that a later attempt gets what the first one got. A cluster that isn't there decides none: the
    gate refuses it."""
    known = load_clusters(project).get(cluster)
    if known is None:
        return {}
    if not isinstance(known, KubeCluster):
        return {"site": known.site}
    pinned = load_pinned(project).get(spec.image.name)
    return {
        "site": known.site,
        "shape": shape or known.usual.get(spec.kind),
        "image_reference": pinned.reference if pinned and pinned.digest == spec.image.digest else None,
    }


def site_of(context: Context, project: Project) -> str:
    """The site of a run: what its context recorded, else that of its cluster today; empty for an unknown cluster."""
    known = None if context.site else load_clusters(project).get(context.cluster)
    return context.site or (known.site if known else "")


def unknown(
    project: Project, cluster: str, *, queue: str | None, priority: str | None, shape: str | None
) -> list[Refusal]:
    """What the gate would say of the place: without inputs there is no spec for the gate to look at."""
    clusters = load_clusters(project)
    known = clusters.get(cluster)
    queues, priorities, shapes = ((), (), ()) if known is None else (known.queues, known.priorities, known.shapes)
    asked = (("queue", queue, queues), ("priority", priority, priorities), ("shape", shape, shapes))
    return unknown_place(cluster, clusters, asked)
