"""What a run may open, made from its frozen spec."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from aifactory.namespace import Namespace
from aifactory.namespace.limits import Limit
from aifactory.spec.run_spec import RunSpec

CANONICAL = "/factory/"


def declared(ns: Namespace, spec: RunSpec, directory: Path, places: Mapping[str, str]) -> Limit:
    """The spec's inputs at their versions, the key that it builds, the run's own `directory`, and the checkpoints
    among its inputs at their `places` (canonical paths by role)."""
    inputs: dict[str, set[str]] = {}
    kept = [name_of(ns, directory)]
    for ref in spec.inputs:
        if ref.kind != "checkpoint":
            inputs.setdefault(ref.key, set()).add(ref.version)
        elif ref.role in places:
            kept.append(places[ref.role].removeprefix(CANONICAL))
    build = spec.kind == "build"
    return Limit(
        reader=f"the build of {spec.build.key}" if build else f"the run {directory.name}",
        inputs={key: frozenset(versions) for key, versions in inputs.items()},
        output=spec.build.key if build else None,
        places=tuple(kept),
    )


def name_of(ns: Namespace, directory: Path) -> str:
    """`public/runs/<run>` of a run's directory in the tree."""
    return ns.canonical(directory).removeprefix(CANONICAL)
