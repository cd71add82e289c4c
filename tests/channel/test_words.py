"""Which names are words of the code."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aifactory.channel.words import KINDS as WORDS
from aifactory.channel.words import is_word
from aifactory.data.identifiers.spans import KINDS
from aifactory.datasets.checks.crossing import SURE
from aifactory.datasets.crossed import Crossed

CODE = '''
"""A docstring."""
from dataclasses import dataclass

PLACE = "kept for later"

@dataclass
class Visit:
    weight: float

def clean(rows, limit):
    for row in rows:
        drop("too short")
        drop(f"bad {row.name} again")
        count(fewest=row.seen)
'''


@pytest.fixture
def assets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package `assets` with that code, imported."""
    path = tmp_path / "assets" / "visits.py"
    path.parent.mkdir()
    path.write_text(CODE)
    (path.parent / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    for name in [name for name in sys.modules if name.partition(".")[0] == "assets"]:
        monkeypatch.delitem(sys.modules, name)
    importlib.import_module("assets.visits")
    return path


def test_strings_and_identifiers_of_the_code_are_words(assets: Path) -> None:
    for name in (
        "kept for later",
        "too short",
        "weight",
        "Visit",
        "limit",
        "fewest",
        "seen",
        "rows",
        "shared_train_val",
    ):
        assert is_word(name), name


def test_what_a_crossing_counts_by_kind_are_words() -> None:
    assert KINDS == WORDS
    assert all(is_word(name.lower()) for name in SURE)
    assert all(is_word(f"{kind} replaced") and is_word(f"known_{kind}_recall") for kind in KINDS)
    assert all(is_word(name) for name in Crossed.__dataclass_fields__)
    # Whoever marked the notes may have called a kind anything.
    assert not is_word("known_Ada_recall")


def test_what_a_value_can_be_part_of_is_none(assets: Path) -> None:
    for name in ("bad ", " again", "bad Ada again", "Ada", "", None, 7, "too", "for later"):
        assert not is_word(name), name


def test_a_file_that_changed_is_read_again(assets: Path) -> None:
    assert not is_word("newest")
    assets.write_text(CODE + 'NEW = "newest"\n')
    assert is_word("newest")
    assets.write_text("this is no Python")
    assert not is_word("too short")
    assets.unlink()
    assert not is_word("newest")


@given(st.text(min_size=9))
def test_no_name_from_elsewhere_is_a_word(name: str) -> None:
    assert not is_word(f"Zaphodine {name}")
