"""A small lab: a checkout of its own with one dataset, one recipe, and everything that is made of them."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

import dagster as dg
import pytest

import aifactory
from aifactory.datasets import Stage, find_stages
from aifactory.namespace import Namespace
from aifactory.orchestrate.assets import assets_from
from aifactory.project import Project

CHECKOUT = Path(aifactory.__file__).resolve().parents[2]

LETTERS = '''
from collections.abc import Iterator
from dataclasses import dataclass

from aifactory.datasets import dataset, rows, unique


@dataclass(frozen=True)
class Letter:
    name: str
    place: int


@dataset(owners=["team:letters"], checks=[rows(26)])
def raw() -> Iterator[Letter]:
    """Twenty-six letters."""
    for place in range(26):
        yield Letter(chr(ord("a") + place), place)


@dataset(checks=[unique("name"), rows(26).named("all").warning()])
def clean(raw: Iterator[Letter]) -> Iterator[Letter]:
    """Letters in upper case."""
    for letter in raw:
        yield Letter(letter.name.upper(), letter.place)
'''


@dataclass(frozen=True)
class Lab:
    """`write` adds or replaces a file; `stages` and `assets` read what is there now."""

    root: Path
    home: Path

    def write(self, name: str, text: str) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    @property
    def namespace(self) -> Namespace:
        return Namespace.open()

    def stages(self) -> dict[str, Stage]:
        return find_stages(Project.current())

    def assets(self) -> list[dg.AssetsDefinition]:
        return assets_from(self.stages().values())


def make(root: Path, monkeypatch: pytest.MonkeyPatch) -> Lab:
    """A lab under `root`, made the current project. Environments per lock are shared by all labs of a test session."""
    envs = Path(os.environ.get("AIFACTORY_ENVS") or CHECKOUT / ".aifactory" / "envs")
    project = root / "project"
    project.mkdir(parents=True)
    shutil.copy(CHECKOUT / "clusters.toml", project)
    for name, path in (
        ("AIFACTORY_PROJECT", project),
        ("AIFACTORY_STATE", root / "state"),
        ("AIFACTORY_ROOT", root / "namespace"),
        ("AIFACTORY_ENVS", envs),
    ):
        monkeypatch.setenv(name, str(path))
    return Lab(project, root / "dagster")
