"""Fixtures for every folder of tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from aifactory.namespace import Namespace


@pytest.fixture
def ns(tmp_path: Path) -> Namespace:
    """An empty namespace of the test's own."""
    return Namespace(tmp_path / "namespace")
