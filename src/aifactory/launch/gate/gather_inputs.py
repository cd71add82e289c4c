"""Gathering what the gate looks at in the inputs: journals, manifests and checkpoint records, no data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from aifactory.channel.safe import safe_result
from aifactory.errors import FactoryError
from aifactory.launch.checkpoints.checkpoint import model_description
from aifactory.launch.gate.facts import CheckFact, InputFact, Shape
from aifactory.launch.plans.resolve import checkpoint_digest
from aifactory.namespace import Audit, Audits, Key, Namespace, Publications
from aifactory.namespace.access import of_key
from aifactory.namespace.names import PREFIX
from aifactory.spec import Context, InputRef, RunSpec, Train
from aifactory.spec.declared import CHECKPOINT


def input_facts(spec: RunSpec, context: Context, ns: Namespace) -> tuple[InputFact, ...]:
    """What is known of every input, in the spec's order."""
    found = tuple(input_fact(ref, context, ns) for ref in spec.inputs)
    if spec.kind == "build" and spec.build.only_checks:
        # A red check must be free to run again on what it is red for.
        return tuple(replace(one, checks=()) for one in found)
    return found


def input_fact(ref: InputRef, context: Context, ns: Namespace) -> InputFact:
    """What is known of one input; `context` says where a checkpoint stands."""
    access = Key.parse(ref.key).access
    if ref.kind == "checkpoint":
        problem, shape = _checkpoint(ref, context, ns)
        place = context.places.get(ref.role, "")
        # No hash covers the place, nor the line in the training's context: where the bytes lie decides.
        access = of_key(place.removeprefix(f"{PREFIX}/")) if CHECKPOINT.fullmatch(place) else access
        return InputFact(ref.role, ref.kind, ref.key, ref.version, access, published=True, problem=problem, shape=shape)
    publications = Publications(ns, ref.key).of(ref.version)
    entries = {entry.audit.check: entry for entry in Audits(ns, ref.key, ref.version).all()}
    latest = {name: entry.audit for name, entry in entries.items()}
    published = publications[-1].at if publications else ""
    asked = dict.fromkeys(publications[-1].checks if publications else ())
    # An older red one is of a check that the stage no longer had when this version was published.
    later = (entry.audit for entry in entries.values() if entry.at > published)
    asked |= dict.fromkeys(audit.check for audit in later if audit.blocking and not audit.passed)
    checks = tuple(_check(name, latest.get(name), ref, ns) for name in asked)
    benchmark, problem, shape = False, "", None
    if publications:
        try:
            snapshot = ns.resolve(ref.key, ref.version)
            benchmark = snapshot.manifest.benchmark
            snapshot.look()
            shape = _shape_in(snapshot.path) if ref.kind == "model" else None
        except FactoryError as error:
            # Of private data not the name of the file, which may have been made of a value.
            problem = str(error) if access == "public" else f"{error.code}; `aifactory doctor --verify` names the file"
    return InputFact(
        ref.role, ref.kind, ref.key, ref.version, access, bool(publications), benchmark, problem, checks, shape
    )


def _check(name: str, audit: Audit | None, ref: InputRef, ns: Namespace) -> CheckFact:
    if audit is None:
        return CheckFact(name, None, elsewhere=_elsewhere(name, ref.key, ns))
    private = Key.parse(ref.key).access != "public"
    reason = safe_result(audit.counts, audit.reason)[1] if private else audit.reason
    return CheckFact(name, audit.passed, reason, audit.run)


def _elsewhere(name: str, key: str, ns: Namespace) -> str:
    """The version (16 digits) that the check was audited on last; empty if there is none."""
    folders = [directory / "@audits" for directory in ns.directories(Key.parse(key))]
    versions = {one.name for folder in folders if folder.is_dir() for one in folder.iterdir()}
    found = [(entry.at, one) for one in versions for entry in Audits(ns, key, one).all() if entry.audit.check == name]
    return max(found)[1] if found else ""


def _checkpoint(ref: InputRef, context: Context, ns: Namespace) -> tuple[str, Shape | None]:
    """Why a checkpoint can't be read, if so, and the shape of the model in it, where its training says it."""
    place = context.places.get(ref.role)
    if place is None:
        return "the context does not say where it is", None
    try:
        directory = ns.local(place)
        found = checkpoint_digest(directory)
        shape = shape_of(RunSpec.load(directory.parent.parent / "spec.json"))
    except (FactoryError, OSError) as error:
        return str(error), None
    return "" if found == ref.version else f"{place} has the digest {found}", shape


def shape_of(spec: RunSpec) -> Shape | None:
    """Every field of the model but the length of its sequences: positions are no weights."""
    return _shape(spec.config.model.document()) if isinstance(spec.config, Train) else None


def _shape_in(place: Path) -> Shape:
    """The shape of a promoted model, which says it itself: its training's run may be gone."""
    described = model_description(place).get("gpt")
    if not isinstance(described, dict):
        raise FactoryError(f"{place} does not say the shape of its model", fix="promote it again", code="checkpoint")
    return _shape(described)


def _shape(fields: Mapping[str, object]) -> Shape:
    numbers = ((name, value) for name, value in fields.items() if name != "context")
    return tuple(sorted((name, value) for name, value in numbers if isinstance(value, int)))
