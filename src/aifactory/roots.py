"""Roots: the folders that AIFACTORY_ROOT names, the first to write in, the others to read from."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from aifactory.errors import FactoryError

VARIABLE = "AIFACTORY_ROOT"
TOPS = ("public", "private")


def parse(text: str) -> tuple[Path, ...]:
    """The folders in `text`, separated as in PATH; absolute, symlinks resolved. None for an empty text.

    Raises FactoryError, code "root", for an empty part (the one after it would become the one to write in), for one
    folder twice, and for one inside another (a write in it would be a write in both).
    """
    if not text:
        return ()
    parts = text.split(os.pathsep)
    if not all(parts):
        raise _wrong(f"{VARIABLE} has an empty part", repr(text), "a folder before and after every separator")
    found = tuple(Path(part).resolve() for part in parts)
    for n, root in enumerate(found):
        for other in found[:n]:
            if root == other:
                raise _wrong(f"{VARIABLE} names one folder twice", root, "each folder once")
            if root.is_relative_to(other) or other.is_relative_to(root):
                inner, outer = (root, other) if root.is_relative_to(other) else (other, root)
                raise _wrong(f"{VARIABLE} names {inner}, which lies inside {outer}", text, "folders beside each other")
    return found


def spell(roots: Sequence[Path]) -> str:
    """What AIFACTORY_ROOT says where the same folders are meant."""
    return os.pathsep.join(map(str, roots))


def check(first: Path, lower: Sequence[Path] = ()) -> None:
    """That `first` is a folder or may become one, and that each of `lower` is a namespace that is there.

    A mount that is away would look like keys that were never published. Raises FactoryError, code "root".
    """
    if (problem := _unusable(first)) is not None:
        raise _wrong(f"{first} can't be the namespace", problem, "a folder, or a place where one can be made")
    for root in lower:
        if (problem := _no_namespace(root)) is not None:
            raise FactoryError(
                f"the read-only root {root} is not there",
                found=problem,
                expected=f"a folder that holds {' or '.join(f'{top}/' for top in TOPS)}",
                fix=f"mount it, or take it out of {VARIABLE}; without it its keys would look as if never published",
                code="root",
            )


def _unusable(place: Path) -> str | None:
    try:
        while not place.exists():
            place = place.parent
        return None if place.is_dir() else f"{place} is a file"
    except OSError as error:
        return f"{error.filename or place}: {error.strerror}"


def _no_namespace(root: Path) -> str | None:
    try:
        if not root.is_dir():
            return "a file" if root.exists() else "no such folder"
        return None if any((root / top).is_dir() for top in TOPS) else "a folder without a namespace in it"
    except OSError as error:
        return f"{error.filename or root}: {error.strerror}"


def _wrong(what: str, found: object, expected: object) -> FactoryError:
    return FactoryError(
        what, found=found, expected=expected, fix=f"set {VARIABLE} to <your folder>{os.pathsep}<a mount>", code="root"
    )
