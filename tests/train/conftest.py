from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.train.lab import Lab, make_lab, tiny
from tests.train.local_ray import START_SECONDS, session, start


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


@pytest.fixture
def temporary() -> Iterator[Path]:
    """A temporary directory for Ray, in which nothing may be left. pytest's own is too long for a socket."""
    with tempfile.TemporaryDirectory(prefix="w", dir="/tmp") as name:
        yield Path(name)
        assert list(Path(name).glob("af-*")) == []


@pytest.fixture(scope="session")
def two_workers(lab: Lab) -> Path:
    """The attempt's directory of a training on two workers of this machine, to its end."""
    with tempfile.TemporaryDirectory(prefix="w", dir="/tmp") as name:
        child, attempt = start(lab, tiny(parallelism__data=2), "two-workers", Path(name))
        assert child.wait(timeout=START_SECONDS) == 0, (attempt / "logs" / "driver.log").read_text()[-3000:]
        assert session(child) == []
        assert list(Path(name).glob("af-*")) == []
    return attempt
