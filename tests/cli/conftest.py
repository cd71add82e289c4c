"""A small lab with built letters, and the command run as a person runs it."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.orchestrate.lab import CHECKOUT, LETTERS


@dataclass(frozen=True)
class Answer:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@dataclass(frozen=True)
class Lab:
    """A project folder, and everything that commands in it read and write."""

    root: Path

    @property
    def project(self) -> Path:
        return self.root / "project"

    @property
    def namespace(self) -> Path:
        return self.root / "namespace"

    @property
    def environment(self) -> dict[str, str]:
        return os.environ | {
            "AIFACTORY_PROJECT": str(self.project),
            "AIFACTORY_STATE": str(self.root / "state"),
            "AIFACTORY_ROOT": str(self.namespace),
            "AIFACTORY_ENVS": os.environ.get("AIFACTORY_ENVS") or str(CHECKOUT / ".aifactory" / "envs"),
        }

    def write(self, name: str, text: str) -> None:
        path = self.project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def __call__(self, *arguments: str, **environment: str) -> Answer:
        """`aifactory <arguments>`."""
        done = subprocess.run(
            [sys.executable, "-m", "aifactory.cli", *arguments],
            env=self.environment | environment,
            cwd=self.root,
            capture_output=True,
            text=True,
            timeout=120,
        )
        return Answer(done.returncode, done.stdout, done.stderr)


def make(root: Path) -> Lab:
    lab = Lab(root)
    lab.write("assets/public/letters.py", LETTERS)
    shutil.copy(CHECKOUT / "clusters.toml", lab.project)
    return lab


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    """Nothing is built in it."""
    return make(tmp_path)


@pytest.fixture(scope="session")
def _built(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    lab = make(tmp_path_factory.mktemp("built"))
    for stage in ("raw", "clean"):
        answer = lab("launch", f"public/letters/{stage}")
        assert answer.code == 0, answer.err
    return lab


@pytest.fixture
def built(_built: Lab, tmp_path: Path) -> Lab:
    """A copy of a lab in which `aifactory launch` has built both stages."""
    shutil.copytree(_built.root, tmp_path / "lab", symlinks=True)
    return Lab(tmp_path / "lab")


@pytest.fixture
def flip() -> Callable[[Path], None]:
    """Change one byte of a published file."""

    def change(path: Path) -> None:
        path.chmod(0o644)
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 1
        path.write_bytes(data)

    return change
