"""`aifactory image digest`: which commits make another image, in a repository and a clone of it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.orchestrate.lab import CHECKOUT, LETTERS

BOTH = {"data", "train"}


class Clone:
    """A clone of a repository with this checkout's machinery. `commit` appends to a file and commits it; `known` is
    what was asked for last."""

    def __init__(self, root: Path):
        origin, self.root = root / "origin", root / "clone"
        self.known: dict[str, str] = {}
        for folder in ("src/aifactory", "locks", "docker"):
            shutil.copytree(CHECKOUT / folder, origin / folder, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(CHECKOUT / "images.toml", origin)
        (origin / "assets/public").mkdir(parents=True)
        (origin / "assets/public/letters.py").write_text(LETTERS)
        self.git("init", "--quiet", at=origin)
        self.git("add", "--all", at=origin)
        self.git("commit", "--quiet", "--message", "all", at=origin)
        self.git("clone", "--quiet", str(origin), str(self.root), at=root)

    def git(self, *arguments: str, at: Path | None = None) -> None:
        identity = ("-c", "user.name=ada", "-c", "user.email=ada@lab.invalid")
        kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        subprocess.run(["git", *identity, *arguments], cwd=at or self.root, env=kept, check=True, capture_output=True)

    def commit(self, name: str) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a") as file:
            file.write("\n# one more line\n")
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", name)

    def digests(self, root: Path | None = None) -> dict[str, str]:
        root = root or self.root
        done = subprocess.run(
            [sys.executable, "-m", "aifactory.cli", "image", "digest", "--json"],
            env=os.environ | {"AIFACTORY_PROJECT": str(root), "PYTHONPATH": str(root / "src")},
            cwd=root,
            check=True,
            capture_output=True,
            text=True,
        )
        found: dict[str, str] = json.loads(done.stdout)
        self.known = found
        return found


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Clone:
    return Clone(tmp_path_factory.mktemp("images"))


def test_a_clone_makes_the_images_of_its_origin(clone: Clone) -> None:
    assert clone.digests() == clone.digests(clone.root.with_name("origin"))


@pytest.mark.parametrize(
    ("file", "moved"),
    [
        ("docs/train.md", set()),
        ("recipes/small.py", set()),
        ("images.toml", set()),
        ("src/aifactory/launch/plan.py", set()),
        ("src/aifactory/run.py", BOTH),
        ("src/aifactory/train/loop.py", {"train"}),
        ("assets/public/letters.py", {"data"}),
        ("locks/train.lock", {"train"}),
        ("locks/data.lock", {"data"}),
        ("docker/train.Dockerfile", {"train"}),
    ],
)
def test_a_commit_moves_the_digest_of_the_images_that_hold_what_it_changed(
    clone: Clone, file: str, moved: set[str]
) -> None:
    before = clone.known or clone.digests()
    clone.commit(file)
    after = clone.digests()
    assert {name for name in BOTH if after[name] != before[name]} == moved


def test_a_commit_that_is_reverted_makes_the_old_images_again(clone: Clone) -> None:
    before = clone.known or clone.digests()
    clone.commit("src/aifactory/run.py")
    clone.git("revert", "--no-edit", "HEAD")
    assert clone.digests() == before
