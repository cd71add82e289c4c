"""Fixtures for launches."""

from __future__ import annotations

from pathlib import Path

import pytest

from aifactory.namespace import Namespace
from tests.launch.lab import Lab


@pytest.fixture(scope="session")
def project_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the project that most tests share is made, once."""
    return tmp_path_factory.mktemp("shared") / "project"


@pytest.fixture
def lab(project_root: Path, ns: Namespace) -> Lab:
    """The shared project with a namespace of the test's own. Not for tests that write into the project."""
    return Lab(project_root, ns)


@pytest.fixture
def own_lab(tmp_path: Path, ns: Namespace) -> Lab:
    """A project of the test's own."""
    return Lab(tmp_path / "project", ns)
