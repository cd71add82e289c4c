"""Specs of every release so far, as files: what was frozen once can be read, and keeps its hash, for good.

`AIFACTORY_GOLDEN=write` adds the files of a release that has none; it never rewrites one.
"""

from __future__ import annotations

import json
import os
import tomllib
from pathlib import Path

import pytest

from aifactory.spec import RunSpec
from aifactory.store import digest
from tests.spec.factories import build_spec, evaluate_spec, train_spec

ROOT = Path(__file__).parents[2]
SPECS = ROOT / "tests" / "golden" / "specs"
KINDS = {"build": build_spec, "evaluate": evaluate_spec, "train": train_spec}
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
    assert spec.kind == path.stem
    assert spec.hash == record["hash"] == digest(record["spec"])
    assert spec.to_bytes() == path.read_bytes()


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_spec_of_a_release_still_means_what_it_says(path: Path) -> None:
    """Every field that stood in the file stands in what is read, with its value: a later default is no change."""
    frozen, read = json.loads(path.read_bytes())["spec"], RunSpec.load(path).document()
    assert _kept(frozen, read) == []


def _kept(frozen: object, read: object, place: str = "") -> list[str]:
    if isinstance(frozen, dict) and isinstance(read, dict):
        found = (_kept(value, read.get(name), f"{place}.{name}") for name, value in frozen.items())
        return [one for several in found for one in several]
    return [] if frozen == read else [f"{place}: {frozen!r} became {read!r}"]
