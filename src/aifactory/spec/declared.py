"""What a run may open, made from its frozen spec."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from aifactory.errors import FactoryError
from aifactory.namespace import Namespace
from aifactory.namespace.limits import Limit
from aifactory.spec.input_ref import InputRef
from aifactory.spec.run_spec import RunSpec

CANONICAL = "/factory/"
CHECKPOINT = re.compile(r"/factory/(public|private/[a-z][a-z0-9_]*)/runs/[a-z][-a-z0-9]*/checkpoints/step-\d{8}")


def declared(ns: Namespace, spec: RunSpec, directory: Path, places: Mapping[str, str]) -> Limit:
    """The spec's inputs at their versions, the key that it builds, the run's own `directory`, and the checkpoints
    among its inputs at their `places` (canonical paths by role)."""
    inputs: dict[str, set[str]] = {}
    kept = [name_of(ns, directory)]
    for ref in spec.inputs:
        if ref.kind != "checkpoint":
            inputs.setdefault(ref.key, set()).add(ref.version)
        elif ref.role in places:
            kept.append(place_of(ref, places).removeprefix(CANONICAL))
    build = spec.kind == "build"
    return Limit(
        reader=f"the build of {spec.build.key}" if build else f"the run {directory.name}",
        inputs={key: frozenset(versions) for key, versions in inputs.items()},
        output=spec.build.key if build else None,
        places=tuple(kept),
    )


def place_of(ref: InputRef, places: Mapping[str, str]) -> str:
    """The canonical path of a checkpoint that is an input. FactoryError, code "checkpoint", when `places` has none for
    its role, or names anything else: no hash covers where a checkpoint lies, and more than it must not be opened."""
    found = places.get(ref.role)
    if found is None or not CHECKPOINT.fullmatch(found):
        raise FactoryError(
            f"the context does not say where the checkpoint {ref.name} is",
            found=found or f"places for {', '.join(places) or 'nothing'}",
            expected=f"a place for {ref.role!r}: /factory/<class>/runs/<run>/checkpoints/step-<8 digits>",
            fix="plan it again, naming the checkpoint's path",
            code="checkpoint",
        )
    return found


def name_of(ns: Namespace, directory: Path) -> str:
    """`public/runs/<run>` of a run's directory in the tree."""
    return ns.canonical(directory).removeprefix(CANONICAL)
