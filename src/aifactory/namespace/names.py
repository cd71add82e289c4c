"""Canonical names and local paths, and the walls of the tree."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from aifactory.errors import FactoryError
from aifactory.namespace.keys import RESERVED

PREFIX = "/factory"
_REPLACE = "replace the symlink by what it names"


def real(root: Path, segments: Iterable[str]) -> Path:
    """`root` and valid segments below it, none of them a symlink."""
    place = root
    for segment in segments:
        place = place / segment
        if place.is_symlink():
            raise _escape(place, f"a symlink to {place.readlink()}", "a directory of its own", _REPLACE)
    return place


def inside(root: Path, path: Path) -> Path:
    """`path` with `..` refused, if it lies in `root` and no symlink leads out of its key (or of a control directory).

    Segments that name keys must be real directories; behind the first `@` a symlink must stay in that key.
    """
    resolved = root.resolve()
    for base in (Path(os.path.abspath(root)), resolved):  # noqa: PTH100
        if path.is_relative_to(base):
            relative = path.relative_to(base)
            break
    else:
        raise _escape(path, f"outside of {root}", f"a path in {root}", f"name something in the tree ({PREFIX}/...)")
    if ".." in relative.parts or "\0" in str(relative):
        raise _escape(path, "`..` or a NUL", "a plain path", "write the path out")
    segments = list(relative.parts)
    own = next((i for i, name in enumerate(segments) if name.startswith("@")), len(segments))
    control = 3 if segments[:1] == ["private"] else 2
    if is_control("/".join(segments)):
        own = min(own, control)
    fixed = resolved.joinpath(*segments[:own])
    try:
        target = (resolved / relative).resolve()
    except (OSError, RuntimeError) as error:
        raise _escape(path, f"{error}", "a path that ends somewhere", "remove the loop of symlinks") from error
    if not target.is_relative_to(fixed) or fixed.resolve() != fixed:
        raise _escape(path, f"a symlink to {target}", f"something in {fixed}", _REPLACE)
    return root / relative


def open_real(base: Path, segments: Sequence[str]) -> int:
    """A descriptor to read the plain file at `segments` under `base`. No symlink among them is followed, also one that
    was put there a moment ago: OSError (ELOOP or ENOTDIR) instead."""
    place = os.open(base, os.O_RDONLY | os.O_DIRECTORY)
    try:
        for segment in segments[:-1]:
            inner = os.open(segment, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=place)
            os.close(place)
            place = inner
        return os.open(segments[-1], os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=place)
    finally:
        os.close(place)


def root_of(roots: Sequence[Path], path: Path) -> Path:
    """The one of `roots` that an absolute path lies in; FactoryError "escape" where it lies in none."""
    for root in roots:
        if any(path.is_relative_to(base) for base in (Path(os.path.abspath(root)), root.resolve())):  # noqa: PTH100
            return root
    tree = ", ".join(map(str, roots))
    raise _escape(path, f"outside of {tree}", f"a path in {tree}", f"name something in the tree ({PREFIX}/...)")


def is_canonical(text: str) -> bool:
    """Whether this is written as `/factory` or `/factory/...`."""
    return text == PREFIX or text.startswith(f"{PREFIX}/")


def is_local(text: str) -> bool:
    """Whether this is written as a path of this machine, not as a key or a canonical name."""
    return text.startswith(("/", ".")) and not is_canonical(text)


def nothing() -> FactoryError:
    """The error for an empty name."""
    return FactoryError(
        "an empty name names nothing",
        found="''",
        expected=f"a key, key@version, {PREFIX}/... or a path in the tree",
        fix="name something, such as public/icd10cm/clean",
        code="key",
    )


def is_control(text: str) -> bool:
    """Whether `public/runs/...` or the like: records of a class, not a key."""
    segments = text.split("/")
    place = 1 if segments[0] == "public" else 2
    return segments[0] in ("public", "private") and len(segments) > place and segments[place] in RESERVED


def from_canonical(root: Path, name: str) -> Path:
    """The path in `root` of `/factory/...`."""
    relative = name.removeprefix(PREFIX).lstrip("/")
    if ".." in relative.split("/"):
        raise _escape(name, "`..`", "a plain name", "write the name out")
    return inside(root, Path(os.path.abspath(root)) / relative)  # noqa: PTH100


def to_canonical(root: Path, path: Path) -> str:
    """`/factory/...` of a path in `root`."""
    absolute = path.absolute()
    inside(root, absolute)
    relative = absolute.resolve().relative_to(root.resolve()).as_posix()
    return PREFIX if relative == "." else f"{PREFIX}/{relative}"


def _escape(name: object, found: str, expected: str, fix: str) -> FactoryError:
    return FactoryError(f"{name} leaves its place", found=found, expected=expected, fix=fix, code="escape")
