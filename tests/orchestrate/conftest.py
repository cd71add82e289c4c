from __future__ import annotations

from pathlib import Path

import pytest

from tests.orchestrate.lab import LETTERS, Lab, make


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lab:
    """A lab with the dataset `letters`."""
    lab = make(tmp_path, monkeypatch)
    lab.write("assets/public/letters.py", LETTERS)
    return lab
