"""Transforms and factories carry versions that are set by hand; this is what makes somebody set them."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

import aifactory
from aifactory.datasets.tree import digest_of, tree_digest
from aifactory.datasets.versions import FACTORIES, TRANSFORMS

PACKAGE = Path(aifactory.__file__).parent
GOLDEN = Path(__file__).parents[1] / "golden" / "transforms.json"
BUILDERS = {
    "source": ("source",),
    "crossing": ("crossing",),
    "split": ("split",),
    "tokenizer": ("tokenizer",),
    "tokenize": ("tokens",),
    "suite": ("suite",),
}


def found() -> dict[str, dict[str, object]]:
    transforms = {name: {"version": version, "digest": digest_of_module(name)} for name, version in TRANSFORMS.items()}
    factories = {
        f"factory {name}": {
            "version": version,
            "digest": " ".join(digest(PACKAGE / f"build/{b}.py") for b in BUILDERS[name]),
        }
        for name, (version, _) in FACTORIES.items()
    }
    return {**transforms, **factories}


def digest(path: Path) -> str:
    return tree_digest(path.read_bytes())[:32]


def digest_of_module(name: str) -> str:
    path = PACKAGE / "data" / name.rpartition(".")[2]
    if not path.is_dir():
        return digest(path.with_suffix(".py"))
    return digest_of(sorted(f"{file.name} {digest(file)}" for file in path.glob("*.py")))[:32]


def test_code_that_moved_has_a_new_version() -> None:
    """`AIFACTORY_GOLDEN=write pytest tests/datasets/test_transforms.py` takes the digests over."""
    now = found()
    if os.environ.get("AIFACTORY_GOLDEN") == "write":
        GOLDEN.write_text(json.dumps(now, indent=2, sort_keys=True) + "\n")
    reviewed = json.loads(GOLDEN.read_text())
    moved = [name for name in now if now[name] != reviewed.get(name)]
    moved += sorted(set(reviewed) - set(now))
    assert not moved, (
        f"{moved}: the code moved. If it gives other results, raise its number in "
        "aifactory/datasets/versions.py, so that stages are built again; then take the digests over (see the docstring)"
    )


def test_every_transform_has_a_version() -> None:
    paths = [*(PACKAGE / "data").glob("*.py"), *(path.parent for path in (PACKAGE / "data").glob("*/__init__.py"))]
    modules = {f"aifactory.data.{path.stem}" for path in paths if path.stem != "__init__"}
    assert modules == set(TRANSFORMS)


@pytest.mark.parametrize("factory", sorted(FACTORIES))
def test_a_factory_names_the_transforms_that_its_builder_imports(factory: str) -> None:
    import ast

    used: set[str] = set()
    for builder in BUILDERS[factory]:
        for node in ast.walk(ast.parse((PACKAGE / f"build/{builder}.py").read_text())):
            if isinstance(node, ast.ImportFrom) and str(node.module).startswith("aifactory.data."):
                used.add(str(node.module).split(".")[2])
    assert used <= set(FACTORIES[factory][1])
