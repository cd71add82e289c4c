"""Gathering what the gate looks at in a site: whether all that a run reads is there."""

from __future__ import annotations

from dataclasses import replace

from aifactory.errors import FactoryError
from aifactory.launch.clusters.kube import HERE
from aifactory.launch.gate.facts import InputFact
from aifactory.launch.sites.presence import Presence, checkpoint_at, snapshot_at
from aifactory.launch.sites.registry import Site
from aifactory.namespace import Namespace
from aifactory.spec import Context, InputRef


def at_site(
    inputs: tuple[InputFact, ...], refs: tuple[InputRef, ...], context: Context, site: Site | None, ns: Namespace
) -> tuple[InputFact, ...]:
    """The facts of the inputs with their presence at the site; as they are where that is here, or not known."""
    if site is None or site.name == HERE:
        return inputs
    return tuple(
        one if one.problem or not one.published else replace(one, presence=presence_of(ref, context, site, ns))
        for one, ref in zip(inputs, refs, strict=True)
    )


def presence_of(ref: InputRef, context: Context, site: Site, ns: Namespace) -> Presence | None:
    """Of one input; None for one that is not even here, which the gate refuses for that."""
    if ref.kind == "checkpoint":
        place = context.places.get(ref.role)
        return checkpoint_at(site, place, ref.version) if place else None
    try:
        return snapshot_at(site, ns.resolve(ref.key, ref.version))
    except FactoryError:
        return None
