"""Gathering what the gate looks at."""

from __future__ import annotations

from pathlib import Path

from aifactory.launch.clusters.registry import load_clusters
from aifactory.launch.gate.facts import Facts, ImageFact
from aifactory.launch.gate.gather_inputs import input_facts, shape_of
from aifactory.launch.gate.gather_kube import kube_fact
from aifactory.launch.gate.gather_sites import at_site
from aifactory.launch.images.copies import available, image_schema
from aifactory.launch.images.locked import locked
from aifactory.launch.images.pinned import PinnedImage, load_pinned
from aifactory.launch.images.rebuild import rebuild
from aifactory.launch.images.verifications import verifications
from aifactory.launch.plans.placing import site_of
from aifactory.launch.plans.plan import Plan
from aifactory.launch.sites.registry import load_sites
from aifactory.namespace import Key, Namespace
from aifactory.project import Project
from aifactory.spec import Context, ImageRef, RunSpec, access_of, access_of_run


def gather(plan: Plan, run: str, directory: Path, *, ns: Namespace, project: Project) -> Facts:
    """The facts about a plan that is to run in `directory`. Reads journals and manifests, no data."""
    spec, context = plan.spec, plan.context
    clusters = load_clusters(project)
    cluster = clusters.get(context.cluster)
    leaves = cluster is not None and not cluster.laptop
    sites, site = load_sites(project), site_of(context, project)
    output = spec.build.key if spec.kind == "build" else context.line or plan.label
    declared = spec.build.access if spec.kind == "build" else None
    place = access_of_run(directory) or access_of(spec, context.resolution(), context.grants)
    access = declared or (Key.parse(context.line).access if context.line else place)
    return Facts(
        run=run,
        kind=spec.kind,
        spec=plan.hash,
        output=output,
        access=access,
        cluster=context.cluster,
        clusters=tuple(sorted(clusters)),
        inputs=at_site(input_facts(spec, context, ns), spec.inputs, context, sites.get(site), ns),
        queue=context.queue,
        priority=context.priority,
        queues=cluster.queues if cluster else (),
        priorities=cluster.priorities if cluster else (),
        pods=context.shape,
        shapes=tuple(cluster.shapes) if cluster else (),
        kube=kube_fact(cluster, spec.kind, context),
        site=site,
        sites=tuple(sorted(sites)),
        leaves=leaves,
        image=_image(spec.image, context, (access, place), ns, project, leaves=leaves),
        schema=context.config_schema,
        commit=context.commit,
        dirty=context.dirty_digest,
        shape=shape_of(spec),
        owner=_owner(directory, plan.hash),
        grants=context.grants,
        place=place,
        suites=tuple(ref.key for ref in context.suites),
    )


def _image(
    image: ImageRef, context: Context, access: tuple[str, ...], ns: Namespace, project: Project, *, leaves: bool
) -> ImageFact:
    here, pinned = available(project, image), load_pinned(project).get(image.name)
    if context.image_reference is not None:
        # Named by images.toml for this very digest when it was planned, whatever that file has moved on to.
        pinned = PinnedImage(digest=image.digest, reference=context.image_reference)
    known = verifications(ns, image.name, ("public", *access))
    proofs = (one.oci for one in known if (one.digest, one.where) == (image.digest, context.cluster))
    return ImageFact(
        name=image.name,
        digest=image.digest,
        available=here,
        rebuild=rebuild(image, context.commit),
        schema=image_schema(project, image) if here else "",
        reference=pinned.reference if pinned else "",
        pinned=pinned.digest if pinned else "",
        proofs=tuple(dict.fromkeys(proofs)),
        ray=locked(project, image, "ray") if here and leaves else "",
    )


def _owner(directory: Path, hash: str) -> str | None:
    file = directory / "spec.json"
    if not file.is_file():
        return None
    found = RunSpec.load(file).hash
    return None if found == hash else found
