"""Gathering what the gate looks at."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from aifactory.errors import FactoryError
from aifactory.launch.clusters import load_clusters
from aifactory.launch.gate import CheckFact, Facts, InputFact
from aifactory.launch.images import available, rebuild
from aifactory.launch.plan import Plan
from aifactory.launch.resolve import checkpoint_digest
from aifactory.namespace import Audit, Audits, Key, Namespace, Publications
from aifactory.project import Project
from aifactory.spec import Context, InputRef, RunSpec


def gather(plan: Plan, run: str, directory: Path, *, ns: Namespace, project: Project) -> Facts:
    """The facts about a plan that is to run in `directory`. Reads journals and manifests, no data."""
    spec, context = plan.spec, plan.context
    clusters = load_clusters(project)
    cluster = clusters.get(context.cluster)
    output = spec.build.key if spec.kind == "build" else context.line or plan.label
    declared = spec.build.access if spec.kind == "build" else None
    return Facts(
        run=run,
        kind=spec.kind,
        spec=plan.hash,
        output=output,
        access=declared or (Key.parse(context.line).access if context.line else "public"),
        cluster=context.cluster,
        clusters=tuple(sorted(clusters)),
        inputs=_inputs(spec, context, ns),
        queue=context.queue,
        priority=context.priority,
        queues=cluster.queues if cluster else (),
        priorities=cluster.priorities if cluster else (),
        image=spec.image.digest,
        image_available=available(project, spec.image),
        rebuild=rebuild(project, spec.image.name, context.commit),
        owner=_owner(directory, plan.hash),
    )


def _owner(directory: Path, hash: str) -> str | None:
    file = directory / "spec.json"
    if not file.is_file():
        return None
    found = RunSpec.load(file).hash
    return None if found == hash else found


def _inputs(spec: RunSpec, context: Context, ns: Namespace) -> tuple[InputFact, ...]:
    found = tuple(_input(ref, context, ns) for ref in spec.inputs)
    if spec.kind == "build" and spec.build.only_checks:
        # A red check must be free to run again on what it is red for.
        return tuple(replace(one, checks=()) for one in found)
    return found


def _input(ref: InputRef, context: Context, ns: Namespace) -> InputFact:
    access = Key.parse(ref.key).access
    if ref.kind == "checkpoint":
        problem = _checkpoint_problem(ref, context, ns)
        return InputFact(ref.role, ref.kind, ref.key, ref.version, access, published=True, problem=problem)
    publications = [one for one in Publications(ns, ref.key).all() if one.version == ref.version]
    entries = {entry.audit.check: entry for entry in Audits(ns, ref.key, ref.version).all()}
    latest = {name: entry.audit for name, entry in entries.items()}
    published = publications[-1].at if publications else ""
    asked = dict.fromkeys(publications[-1].checks if publications else ())
    # An older red one is of a check that the stage no longer had when this version was published.
    later = (entry.audit for entry in entries.values() if entry.at > published)
    asked |= dict.fromkeys(audit.check for audit in later if audit.blocking and not audit.passed)
    checks = tuple(_check(name, latest.get(name)) for name in asked)
    benchmark, problem = False, ""
    if publications:
        try:
            snapshot = ns.resolve(ref.key, ref.version)
            benchmark = snapshot.manifest.benchmark
            snapshot.look()
        except FactoryError as error:
            problem = str(error)
    return InputFact(ref.role, ref.kind, ref.key, ref.version, access, bool(publications), benchmark, problem, checks)


def _check(name: str, audit: Audit | None) -> CheckFact:
    return CheckFact(name, None) if audit is None else CheckFact(name, audit.passed, audit.reason, audit.run)


def _checkpoint_problem(ref: InputRef, context: Context, ns: Namespace) -> str:
    place = context.places.get(ref.role)
    if place is None:
        return "the context does not say where it is"
    try:
        found = checkpoint_digest(ns.local(place))
    except (FactoryError, OSError) as error:
        return str(error)
    return "" if found == ref.version else f"{place} has the digest {found}"
