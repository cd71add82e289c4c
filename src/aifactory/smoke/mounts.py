"""What a public run must not be able to do: read what is private, write outside its own directory."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from aifactory.errors import FactoryError
from aifactory.namespace import Namespace

PROBE = ".smoke-probe"
DEEPEST = 8
"""How deep below a project something is looked for that could be opened: keys nest, and parts have folders."""


def readable(root: Path) -> list[str]:
    """Files below `private/` of the tree at `root` that this process can open, at most one of each project."""
    private, found = root / "private", []
    for project in _entries(private):
        opened = next((file for file in _files(project, DEEPEST) if _opens(file)), None)
        if opened is not None:
            found.append(opened.relative_to(root).as_posix())
    return found


def writable(places: Iterable[Path]) -> list[Path]:
    """Those of the directories in which this process can make a file. Nothing is left behind."""
    found = []
    for place in places:
        probe = place / PROBE
        try:
            handle = os.open(probe, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        except OSError:
            continue
        os.close(handle)
        found.append(place)
        with suppress(OSError):
            probe.unlink()
    return found


def around(root: Path, own: Path, inputs: Iterable[Path]) -> list[Path]:
    """Directories that a run whose directory is `own` has no business in: the tree's, those above its own, its
    neighbours', those of its inputs and all above them. Only what is there."""
    found = {root, root / "public", root / "private", own.parent, *_entries(own.parent)}
    for place in inputs:
        found |= {place, *(one for one in place.parents if one.is_relative_to(root))}
    return sorted(one for one in found if one != own and one.is_dir())


def check_tree(root: Path, own: Path, inputs: Iterable[Path]) -> int:
    """How many places were tried. FactoryError, code "mounts", naming what could be read or written."""
    open_files = readable(root)
    if open_files:
        raise _breach("a public run can read private data", ", ".join(open_files), "nothing below private/")
    tried = around(root, own, inputs)
    if breaches := writable(tried):
        raise _breach("a run can write outside its own directory", ", ".join(map(str, breaches)), str(own))
    if writable([own]) != [own]:
        raise _breach("a run can't write in its own directory", "no", str(own))
    return len(tried)


def check_limit(ns: Namespace, key: str) -> None:
    """On this machine nothing is mounted: what holds is that readers refuse what the spec does not name. FactoryError,
    code "mounts", when `key` can be opened."""
    try:
        ns.resolve(key)
    except FactoryError as error:
        if error.code == "undeclared":
            return
        raise _breach("the reader refuses for another reason", error.code, "undeclared") from error
    raise _breach("a reader opens what the spec does not name", key, "a refusal with the code undeclared")


def _entries(place: Path) -> list[Path]:
    try:
        return sorted(place.iterdir())
    except OSError:
        return []


def _files(place: Path, deep: int) -> Iterable[Path]:
    if place.is_file():
        yield place
    elif deep:
        for one in _entries(place):
            yield from _files(one, deep - 1)


def _opens(file: Path) -> bool:
    try:
        with file.open("rb") as opened:
            opened.read(1)
    except OSError:
        return False
    return True


def _breach(what: str, found: str, expected: str) -> FactoryError:
    fix = "look at the mounts and the service account of the class public in clusters.toml, and at the tree's rights"
    return FactoryError(what, found=found, expected=expected, fix=fix, code="mounts")
