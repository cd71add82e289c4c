from __future__ import annotations

from pathlib import Path

import pytest

from tests.train.lab import Lab, make_lab


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    """A namespace of its own, made once for all tests that train."""
    return make_lab(tmp_path_factory.mktemp("lab") / "namespace")


@pytest.fixture
def run_directory(tmp_path: Path) -> Path:
    """The directory of a run whose only attempt is its first."""
    directory = tmp_path / "train-tiny-0123456789ab"
    (directory / "attempts" / "00000001").mkdir(parents=True)
    return directory
