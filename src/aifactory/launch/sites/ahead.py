"""Reading what a plan reads once at its site, for a launch that asked for it."""

from __future__ import annotations

from collections.abc import Callable

from aifactory.launch.backend import Interrupted
from aifactory.launch.clusters.kube import HERE
from aifactory.launch.plans.placing import site_of
from aifactory.launch.plans.plan import Plan
from aifactory.launch.runs.result import Signal
from aifactory.launch.sites.prefetch import Progress, ToRead, of_checkpoint, of_snapshot, read
from aifactory.launch.sites.presence import seen
from aifactory.launch.sites.registry import Site, get_site
from aifactory.namespace import Namespace
from aifactory.namespace.names import root_of
from aifactory.project import Project


def read_ahead(
    plan: Plan, *, ns: Namespace, project: Project, say: Callable[[str], None], stop: Callable[[], Signal]
) -> None:
    """Read the parts that the plan's inputs name, if it asks for that. Raises Interrupted as soon as `stop` says so,
    FactoryError "data_stale" for bytes that are not what a manifest says: no run should read them either."""
    if not plan.context.prefetch:
        return
    site = get_site(site_of(plan.context, project), project)
    if seen(site) is None:
        say(f"nothing is prefetched: nobody here sees the site {site.name}")
        return

    def asked() -> None:
        if (signal := stop()) != "run":
            raise Interrupted(signal)

    whats = _inputs(plan, site, ns)
    progress = Progress(whats, say, stop=asked)
    for what in whats:
        read(what, progress)
    say(f"prefetch at the site {site.name}: {progress.text}")


def _inputs(plan: Plan, site: Site, ns: Namespace) -> list[ToRead]:
    found: list[ToRead] = []
    for ref in plan.spec.inputs:
        if ref.kind == "checkpoint":
            # Here a checkpoint may lie in any root; at a site of its own there is one tree.
            place = plan.context.places[ref.role]
            own = {"view": root_of(ns.roots, ns.local(place))} if site.name == HERE else {}
            found.append(of_checkpoint(site.model_copy(update=own), place, ref.version))
        else:
            found.append(of_snapshot(site, ns.resolve(ref.key, ref.version), ref.part))
    return found
