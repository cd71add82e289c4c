"""Fixtures for builds."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.build.lab import Lab, Told


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Lab]:
    yield Lab(tmp_path, monkeypatch)
    for name in [name for name in sys.modules if name.partition(".")[0] in ("assets", "checks")]:
        del sys.modules[name]


@pytest.fixture
def good(lab: Lab) -> Callable[..., Told]:
    """Build and expect success."""

    def build(key: str, **more: object) -> Told:
        told = lab.build(key, **more)  # type: ignore[arg-type]
        assert told.error is None, told.error
        return told

    return build
