"""A small lab: a checkout of its own with one dataset, one recipe, and everything that is made of them."""

from __future__ import annotations

import os
import shutil
import sys
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

    def write(self, name: str, text: str) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        self.forget()
        return path

    def forget(self) -> None:
        """Import everything again at the next look, as a reload of the code location does."""
        for module in [name for name in sys.modules if name.partition(".")[0] in ("assets", "checks", "recipes")]:
            del sys.modules[module]

    @property
    def namespace(self) -> Namespace:
        return Namespace.open()

    def stages(self) -> dict[str, Stage]:
        return find_stages(Project.current())

    def materialize(
        self, instance: dg.DagsterInstance, *names: str, tags: dict[str, str] | None = None
    ) -> dg.ExecuteInProcessResult:
        """Materialize these keys (all by default) in this process; their builds are processes of their own."""
        assets = self.assets()
        selection = dg.AssetSelection.assets(*(name.split("/") for name in names)) if names else None
        return dg.materialize(assets, instance=instance, selection=selection, tags=tags, raise_on_error=False)

    def check(self, instance: dg.DagsterInstance, key: str, *names: str) -> dg.ExecuteInProcessResult:
        """Run checks alone."""
        keys = [dg.AssetCheckKey(dg.AssetKey(key.split("/")), name) for name in names]
        return dg.materialize(
            self.assets(), instance=instance, selection=dg.AssetSelection.checks(*keys), raise_on_error=False
        )

    def assets(self) -> list[dg.AssetsDefinition]:
        return assets_from(self.stages().values())


def make(root: Path, monkeypatch: pytest.MonkeyPatch, state: Path | None = None) -> Lab:
    """A lab under `root`, made the current project. All share environments, those with one `state` images."""
    envs = Path(os.environ.get("AIFACTORY_ENVS") or CHECKOUT / ".aifactory" / "envs")
    project = root / "project"
    if not project.exists():
        project.mkdir(parents=True)
        shutil.copy(CHECKOUT / "clusters.toml", project)
    for name, path in (
        ("AIFACTORY_PROJECT", project),
        ("AIFACTORY_STATE", state or root / "state"),
        ("AIFACTORY_ROOT", root / "namespace"),
        ("AIFACTORY_ENVS", envs),
    ):
        monkeypatch.setenv(name, str(path))
    return Lab(project)
