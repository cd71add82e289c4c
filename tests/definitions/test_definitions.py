from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from aifactory.errors import FactoryError
from aifactory.orchestrate.location import load
from tests.definitions.graph import reviewed
from tests.orchestrate.lab import CHECKOUT, LETTERS, Lab, make

HEAVY = ("torch", "ray", "kubernetes", "megatron", "tokenizers", "pyarrow")


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lab:
    lab = make(tmp_path, monkeypatch)
    lab.write("assets/public/letters.py", LETTERS)
    return lab


def loaded(code: str, root: Path) -> list[str]:
    """Which heavy modules a process has after it ran `code`."""
    script = f"{code}\nimport json, sys\nprint(json.dumps([name for name in {HEAVY} if name in sys.modules]))"
    done = subprocess.run([sys.executable, "-c", script], cwd=root, capture_output=True, text=True, check=True)
    found: list[str] = json.loads(done.stdout.splitlines()[-1])
    return found


def test_the_graph_of_this_lab_is_the_reviewed_one() -> None:
    reviewed("graph_lab", load(CHECKOUT))


def test_the_graph_of_a_small_lab_is_the_reviewed_one(lab: Lab) -> None:
    lab.write(
        "assets/private/ward/notes.py",
        "from collections.abc import Iterator\n"
        "from aifactory.datasets import dataset, split\n"
        "from assets.public import letters\n\n"
        '@dataset(inputs={"letters": letters.clean}, benchmark=True, automation=False, owners=["ada@example.org"])\n'
        "def linked(letters: Iterator[dict]) -> Iterator[letters.Letter]:\n"
        '    """Letters of the ward."""\n'
        "    yield from ()\n\n"
        'parts = split(linked, by="name", train=0.5, val=0.25, test=0.25)\n',
    )
    lab.write(
        "recipes/small.py",
        "from aifactory.spec import GPT, Mix, Train, recipe\n"
        "from assets.public import letters\n\n"
        '@recipe(line="public/models/small", suites=[])\n'
        "def small() -> Train:\n"
        "    model = GPT(layers=1, hidden=8, heads=1, context=8)\n"
        "    return Train(model=model, mix=Mix.of({letters.clean: 1}), steps=2)\n",
    )
    reviewed("graph_small", load(CHECKOUT))


def test_definitions_load_nothing_heavy(lab: Lab) -> None:
    assert loaded("import definitions; definitions.defs.get_repository_def()", lab.root) == []


def test_this_labs_definitions_load_no_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    """The lab's own checks may import Arrow; what trains and what talks to clusters stays out."""
    found = loaded("import definitions; definitions.defs.get_repository_def()", CHECKOUT)
    assert set(found) <= {"pyarrow"}


def test_definitions_of_another_checkout_are_refused(tmp_path: Path) -> None:
    shutil.copytree(CHECKOUT / "definitions", tmp_path / "definitions")
    done = subprocess.run(
        [sys.executable, "-c", "import sys; sys.path.insert(0, '.'); import definitions"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "two checkouts of this project" in done.stderr
    assert f"definitions from {tmp_path}, aifactory from {CHECKOUT}" in done.stderr


def test_an_owner_that_dagster_does_not_take_names_the_stage(lab: Lab) -> None:
    lab.write("assets/public/letters.py", LETTERS.replace("team:letters", "nobody"))
    with pytest.raises(FactoryError, match="public/letters/raw") as error:
        load(CHECKOUT)
    assert "letters.py" in error.value.fix


@pytest.mark.parametrize(
    ("folder", "text", "code"),
    [
        ("assets/public/broken.py", "import nothing_like_this\n", "import"),
        ("recipes/broken.py", "1 / 0\n", "import"),
    ],
)
def test_a_file_that_cannot_be_imported_is_named(lab: Lab, folder: str, text: str, code: str) -> None:
    lab.write(folder, text)
    with pytest.raises(FactoryError, match="broken") as error:
        load(CHECKOUT)
    assert error.value.code == code
