"""Specs of every release so far, as files: what was frozen once can be read, and keeps its hash, for good.

`AIFACTORY_GOLDEN=write` adds the files of a release that has none; it never rewrites one.
"""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from aifactory.errors import FactoryError
from aifactory.spec import RunSpec
from aifactory.store import digest
from tests.spec.factories import build_spec, evaluate_spec, started_spec, train_spec

ROOT = Path(__file__).parents[2]
SPECS = ROOT / "tests" / "golden" / "specs"
KINDS = {
    "build": build_spec,
    "evaluate": evaluate_spec,
    "train": train_spec,
    "train-started": started_spec,
    "smoke": lambda: train_spec().evolve({"kind": "smoke"}),
}
FILES = sorted(SPECS.glob("*/*.json"))


def release() -> str:
    """`0.1`: this release."""
    version: str = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    return version.rpartition(".")[0]


def test_this_release_has_its_files() -> None:
    for kind, make in KINDS.items():
        path = SPECS / release() / f"{kind}.json"
        if os.environ.get("AIFACTORY_GOLDEN") == "write" and not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(make().to_bytes())
        assert path.is_file(), "run this with AIFACTORY_GOLDEN=write and commit the file"


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_spec_of_a_release_loads_and_keeps_its_hash_and_its_bytes(path: Path) -> None:
    record = json.loads(path.read_bytes())
    spec = RunSpec.load(path, record["hash"])
    assert spec.kind == path.stem.partition("-")[0]
    assert spec.hash == record["hash"] == digest(record["spec"])
    assert spec.to_bytes() == path.read_bytes()


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_spec_of_a_release_still_means_what_it_says(path: Path) -> None:
    """Every field that stood in the file stands in what is read, with its value: a later default is no change."""
    frozen, read = json.loads(path.read_bytes())["spec"], RunSpec.load(path).document()
    assert _kept(frozen, read) == []


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_reader_that_lost_a_field_of_a_release_would_be_noticed(path: Path) -> None:
    """What is read by a name that this code does not know is refused, so no field can be renamed or dropped unseen."""
    frozen = json.loads(path.read_bytes())["spec"]
    places = list(_objects(frozen))
    assert len(places) > 3
    for place in places:
        for name in place:
            changed = json.loads(path.read_bytes())["spec"]
            (same,) = [one for one, there in zip(_objects(changed), places, strict=True) if there is place]
            same[f"{name}_renamed"] = same.pop(name)
            with pytest.raises(FactoryError):
                RunSpec.load(json.dumps({"hash": digest(changed), "spec": changed}).encode())


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    """Every object of a document but free parameters, whose names are nobody's."""
    if isinstance(value, dict):
        yield value
        for name, inner in value.items():
            if name != "parameters":
                yield from _objects(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _objects(inner)


def _kept(frozen: object, read: object, place: str = "") -> list[str]:
    if isinstance(frozen, dict) and isinstance(read, dict):
        found = (_kept(value, read.get(name), f"{place}.{name}") for name, value in frozen.items())
        return [one for several in found for one in several]
    return [] if frozen == read else [f"{place}: {frozen!r} became {read!r}"]
