from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest

from tests.jobs.world import World
from tests.orchestrate.lab import make

WORDS = """
from collections.abc import Iterator
from dataclasses import dataclass

from aifactory.datasets import dataset, split, suite, tokenize, tokenizer
from aifactory.spec import MultipleChoice


@dataclass(frozen=True)
class Word:
    text: str
    kind: str


@dataset
def raw() -> Iterator[Word]:
    for n in range(60):
        yield Word(f"word number {n}", "even" if n % 2 == 0 else "odd")


parts = split(raw, by="text", train=0.6, val=0.2, test=0.2)
bpe = tokenizer(parts, vocabulary=260)
ready = tokenize(parts, tokenizer=bpe)
quiz = suite(parts, scorer=MultipleChoice(question="text", answer="kind"))
"""

RECIPE = """
from aifactory.spec import GPT, Mix, Train, recipe
from assets.public import words


@recipe(line="public/models/small", suites=[words.quiz])
def small() -> Train:
    return Train(model=GPT(layers=1, hidden=8, heads=1, context=8), mix=Mix.of({words.ready: 1.0}), steps=2)
"""


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where a lab stands with a dataset that is built and a recipe."""
    root = tmp_path_factory.mktemp("world")
    with pytest.MonkeyPatch.context() as patch, dg.DagsterInstance.ephemeral() as instance:
        lab = make(root, patch)
        lab.write("assets/public/words.py", WORDS)
        lab.write("recipes/small.py", RECIPE)
        assert lab.materialize(instance).success
    return root


@pytest.fixture
def world(built: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    """That lab; its trainings and evaluations only exist as files."""
    return World(make(built, monkeypatch))


@pytest.fixture
def own_world(built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    """A copy of that lab, for tests that publish."""
    for name in ("project", "namespace"):
        shutil.copytree(built / name, tmp_path / name, symlinks=True)
    return World(make(tmp_path, monkeypatch, built / "state"))


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.ephemeral() as instance:
        yield instance
