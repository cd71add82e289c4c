"""The recipes of this project; their specs are reviewed files."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from aifactory.project import Project
from aifactory.spec import ImageRef, InputRef, RunSpec, Train, find_recipes, get_recipe

GOLDEN = Path(__file__).parents[1] / "golden"


def spec_of(config: Train) -> RunSpec:
    """The spec with made-up versions: what is reviewed is the config and the shape."""
    return RunSpec(
        kind="train",
        config=config.resolved(8192),
        inputs=(
            InputRef(role="mix", kind="dataset", key="public/icd10cm/ready", version="1a" * 32, part="train"),
            InputRef(role="tokenizer", kind="tokenizer", key="public/icd10cm/bpe8k", version="2b" * 32),
        ),
        image=ImageRef(name="train", digest="3c" * 32),
    )


def test_every_recipe_of_this_project_is_valid() -> None:
    assert {"tiny", "tiny_one", "tiny_wide"} <= set(find_recipes(Project.current()))


@pytest.mark.parametrize("name", ["tiny", "tiny_wide", "tiny_one"])
def test_the_spec_of_a_tiny_recipe_is_the_reviewed_one(name: str) -> None:
    path = GOLDEN / f"spec_{name}.json"
    written = spec_of(get_recipe(name).build()).to_bytes()
    if os.environ.get("AIFACTORY_GOLDEN") == "write":
        path.write_bytes(written)
    assert path.read_bytes() == written, "review the change, then run this with AIFACTORY_GOLDEN=write"


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("spec_*.json")), ids=lambda path: path.stem)
def test_a_reviewed_spec_is_readable_and_keeps_its_hash(path: Path) -> None:
    assert RunSpec.load(path).to_bytes() == path.read_bytes()


def test_tiny_has_two_workers_three_checkpoints_and_two_suites() -> None:
    tiny = get_recipe("tiny")
    config = tiny.build()
    assert config.parallelism.workers == 2
    assert len(config.checkpoint_steps()) == 3
    assert config.mix.keys == ("public/icd10cm/ready",)
    assert (tiny.line, tiny.suites) == ("public/models/tiny", ("public/icd10cm/chapters", "public/icd10cm/heldout"))
    assert get_recipe("tiny_wide").baseline == "tiny"


def test_tiny_wide_differs_from_tiny_in_its_width_alone() -> None:
    assert get_recipe("tiny_wide").build() == get_recipe("tiny").build({"model.hidden": 128})
