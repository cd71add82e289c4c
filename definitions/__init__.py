"""The code location: everything that the folders beside this one declare."""

from pathlib import Path

from aifactory.orchestrate.location import load

defs = load(Path(__file__).resolve().parents[1])
