"""A project of the test's own, whose assets it writes."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from aifactory.datasets import Stage, find_stages
from aifactory.errors import FactoryError
from aifactory.project import Project

HEAD = """
from __future__ import annotations
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from aifactory.datasets import *
from aifactory.datasets import source, split
from aifactory.spec import BitsPerByte, MultipleChoice

@dataclass(frozen=True)
class Row:
    id: int
    group: str
    text: str

"""


class Lab:
    """`write` puts files into the project, `find` loads its stages as a new process would, `refused` expects an
    error."""

    def __init__(self, root: Path):
        self.root = root

    def write(self, files: Mapping[str, str], head: str = "") -> None:
        for name, text in files.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(head + textwrap.dedent(text))

    def find(self) -> dict[str, Stage]:
        for name in [name for name in sys.modules if name.partition(".")[0] in ("assets", "checks", "recipes")]:
            del sys.modules[name]
        return find_stages(Project.current())

    def load(self, text: str, name: str = "assets/public/words.py") -> dict[str, Stage]:
        self.write({name: text}, HEAD)
        return self.find()

    def refused(self, text: str, name: str = "assets/public/words.py") -> FactoryError:
        with pytest.raises(FactoryError) as caught:
            self.load(text, name)
        return caught.value


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lab:
    root = tmp_path / "project"
    root.mkdir()
    monkeypatch.setenv("AIFACTORY_PROJECT", str(root))
    monkeypatch.delenv("AIFACTORY_ROOT", raising=False)
    monkeypatch.delenv("AIFACTORY_STATE", raising=False)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    return Lab(root)


@pytest.fixture(autouse=True)
def own_modules() -> Iterator[None]:
    """What the test imported is forgotten afterwards."""
    path = list(sys.path)
    yield
    sys.path[:] = path
    for name in [name for name in sys.modules if name.partition(".")[0] in ("assets", "checks", "recipes")]:
        del sys.modules[name]
