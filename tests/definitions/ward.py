"""A lab with a public dataset, a private one made from it, and a line of each class."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.orchestrate.lab import LETTERS, Lab, make

NOTES = '''
from collections.abc import Iterator

from aifactory.datasets import dataset, split
from assets.public import letters


@dataset(inputs={"letters": letters.clean})
def linked(letters: Iterator[dict]) -> Iterator[letters.Letter]:
    """Letters of the ward."""
    for letter in letters:
        yield letters_of(letter)


def letters_of(letter: dict) -> letters.Letter:
    return letter


parts = split(linked, by="name", train=0.5, val=0.25, test=0.25)
'''

RECIPES = """
from aifactory.spec import GPT, Mix, Train, recipe
from assets.private.ward import notes
from assets.public import letters


@recipe(line="public/models/lettered", suites=[])
def lettered() -> Train:
    return Train(
        model=GPT(layers=1, hidden=8, heads=1, context=8), mix=Mix.of({{letters.clean: 1}}), steps=2
    )


@recipe(line="private/ward/models/wardlike", suites=[])
def wardlike() -> Train:
    return lettered().evolve({{"mix": Mix.of({{notes.parts: 1}})}})
""".replace("{{", "{").replace("}}", "}")


def ward(root: Path, monkeypatch: pytest.MonkeyPatch, state: Path | None = None) -> Lab:
    """The lab under `root`, made the current project."""
    lab = make(root, monkeypatch, state)
    lab.write("assets/public/letters.py", LETTERS)
    lab.write("assets/private/ward/notes.py", NOTES)
    lab.write("recipes/both.py", RECIPES)
    return lab
