from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest

from tests.orchestrate.lab import LETTERS, Lab, make


@pytest.fixture(scope="session")
def state(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the labs of a session keep their images: a copy is named by its content."""
    return tmp_path_factory.mktemp("state")


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, state: Path) -> Lab:
    """A lab with the dataset `letters`."""
    lab = make(tmp_path, monkeypatch, state)
    lab.write("assets/public/letters.py", LETTERS)
    return lab


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.ephemeral() as instance:
        yield instance
