"""Namespace: one tree of keys, the same at every site."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from aifactory import roots
from aifactory.errors import FactoryError
from aifactory.namespace import access, decide, limits, names
from aifactory.namespace.keys import LINES, RESERVED, Key, check_segment
from aifactory.namespace.publications import Publications
from aifactory.namespace.snapshot import Snapshot
from aifactory.project import Project


@dataclass(frozen=True)
class Namespace:
    """The tree under `root`, which is made by the first write into it, over those under `lower`, which are only read.

    A key is read from the first root whose journal has it, `key@version` from any that holds it.
    """

    root: Path
    lower: tuple[Path, ...] = ()

    @classmethod
    def open(cls) -> Self:
        """The namespace of the current project: AIFACTORY_ROOT, else `.aifactory/namespace` in the checkout."""
        return cls.of(Project.current())

    @classmethod
    def of(cls, project: Project) -> Self:
        """The namespace of a project; FactoryError "root" where its root can't be one or a read-only one is away."""
        roots.check(project.namespace, project.lower)
        return cls(project.namespace, project.lower)

    @property
    def roots(self) -> tuple[Path, ...]:
        """`root` and the read-only ones, in the order in which they are read."""
        return (self.root, *self.lower)

    @property
    def variable(self) -> str:
        """What AIFACTORY_ROOT says in a process that reads and writes the same."""
        return roots.spell(self.roots)

    def directory(self, key: str) -> Path:
        """Where a key is written; FactoryError "escape" when a symlink stands in its place or on the way to it,
        "undeclared" inside a run that doesn't declare the key."""
        return self.directories(key)[0]

    def directories(self, key: str) -> list[Path]:
        """The directory of a key in every root, there or not; the first is `directory(key)`. Errors as there."""
        if limit := limits.current():
            limit.check_key(Key(key))
        return [names.real(root, Key(key).segments) for root in self.roots]

    def class_root(self, of: str) -> Path:
        """`<root>/public` or `<root>/private/<project>`: where a class keeps its runs, specs, claims and images."""
        limits.whole(access.validate(of))
        return names.real(self.root, of.split("/"))

    def class_roots(self, of: str | None = None) -> list[Path]:
        """Those of a class, or of all classes, that are there in any root and that this user may read; the first root's
        come first."""
        limits.whole(of or "")
        wanted = [of.split("/")] if of else [["public"], *self._projects()]
        found = [names.real(root, segments) for root in self.roots for segments in wanted]
        # A folder of another identity is not there for this user.
        return [place for place in found if place.is_dir() and os.access(place, os.R_OK | os.X_OK)]

    def class_of(self, path: Path) -> str:
        """The class of what lies in a class root of any root; FactoryError "escape" for another path."""
        relative = path.relative_to(names.root_of(self.roots, path))
        return access.validate("/".join(relative.parts[: 1 if relative.parts[:1] == ("public",) else 2]))

    def is_away(self, path: Path) -> bool:
        """Whether it lies in a read-only root: what goes on there goes on at another site."""
        return any(path.is_relative_to(root) for root in self.lower)

    def writable(self, path: Path) -> Path:
        """`path` itself, which somebody is about to write; FactoryError "read_only" when it lies in another root than
        the first."""
        lower = next((root for root in self.lower if path.is_relative_to(root)), None)
        if lower is not None:
            raise FactoryError(
                f"{path} lies in a read-only root",
                found=f"the root {lower}",
                expected=f"a place in {self.root}, the one root that is written",
                fix=f"do it at the site that owns {lower}, or put {lower} first in {roots.VARIABLE} if it is yours",
                code="read_only",
            )
        return path

    def keys(self, of: str | None = None) -> list[Key]:
        """Every key that was ever published in any root, of one class or of all that this user may read, sorted."""
        limits.whole(of or "")
        return sorted({key for root in self.roots for key, own in _tree(root, of) if "@journal" in own})

    def places(self, of: str | None = None) -> list[Key]:
        """Every key whose directory in the first root holds something of its own, published or not, sorted."""
        limits.whole(of or "")
        return sorted(key for key, _ in _tree(self.root, of))

    def resolve(self, key: str, version: str | None = None) -> Snapshot:
        """The published snapshot that `key`, or `key@version`, names: current without a version.

        The canonical name and a local path do as well. `version` (or what follows `@`) is one of the 64 digits, or 8 or
        more of them if only one version begins so. Inside a run both stand for what its spec declares, whatever is
        current by now, and no journal is read. Raises FactoryError "unpublished" (nothing of this key is), "version",
        "missing", "integrity", "journal", "undeclared" (inside a run, which declares something else). Only the manifest
        is verified: call `verify` on what is going to be read.
        """
        found, pinned = self.named(key)
        if limit := limits.current():
            declared = limit.version(found, version if version is not None else pinned)
            return Publications(self, found).snapshot(declared)
        publications = Publications(self, found)
        records = publications.all()
        if not records:
            raise self._unpublished(found)
        if version is None and pinned is None:
            return publications.snapshot(records[-1].version)
        wanted = version if version is not None else pinned or ""
        try:
            return publications.snapshot(decide.find(found, wanted, records))
        except FactoryError as error:
            if error.code != "version" or not self.lower:
                raise
            return publications.snapshot(decide.find(found, wanted, publications.everywhere()))

    def named(self, text: str) -> tuple[Key, str | None]:
        """The key, and the version where there is one, of a key, `key@version`, `/factory/<key>[/@version]` or a local
        path of the two. FactoryError "key" or "escape" for anything else."""
        name = self.canonical(text) if names.is_local(text) else text
        if not names.is_canonical(name):
            bare, at, version = name.partition("@")
            return Key(bare.removesuffix("/") if at else bare), version if at else None
        bare, at, version = name.removeprefix(names.PREFIX).strip("/").partition("/@")
        return Key(bare), version if at else None

    def short(self, text: str) -> str:
        """`key` or `key@version` of what `named` takes; anything else as it is."""
        try:
            key, version = self.named(text)
        except FactoryError:
            return text
        return str(key) if version is None else f"{key}@{version}"

    def local(self, name: str | Path) -> Path:
        """The path at this site of a canonical name, a key, `key@version` or a path inside the tree.

        A key stands for its current snapshot, a line that nothing was promoted to for its directory. Nothing has to
        exist for a canonical name or a path; one that exists in several roots is that of the first. Raises FactoryError
        "escape" for what lies outside of the tree or leaves it by a symlink, "undeclared" for what the run in this
        process doesn't declare.
        """
        text = str(name)
        if not text:
            raise names.nothing()
        if names.is_canonical(text):
            return self._existing(text)
        if isinstance(name, Path) or Path(text).is_absolute() or not text.startswith(("public/", "private/")):
            path = Path(text).absolute()
            return self._open(names.inside(names.root_of(self.roots, path), path))
        bare, at, _ = text.partition("@")
        if names.is_control(bare) or "/@" in text:
            return self._existing(f"{names.PREFIX}/{text}")
        if not at and Key(bare).is_line and Publications(self, Key(bare)).current() is None:
            return self._existing(f"{names.PREFIX}/{bare}")
        return self.resolve(text).path

    def canonical(self, path: str | Path) -> str:
        """`/factory/...` of a path inside any root; `@current` becomes the version that it names."""
        absolute = Path(path).absolute()
        return names.to_canonical(names.root_of(self.roots, absolute), absolute)

    def _existing(self, name: str) -> Path:
        found = [names.from_canonical(root, name) for root in self.roots]
        return self._open(next((path for path in found if path.exists()), found[0]))

    def _open(self, path: Path) -> Path:
        if limit := limits.current():
            limit.check_path(self.canonical(path).removeprefix(f"{names.PREFIX}/"))
        return path

    def _projects(self) -> list[list[str]]:
        found = {path.name for root in self.roots for path in (root / "private").glob("*") if path.is_dir()}
        return [["private", name] for name in sorted(found) if _is_segment(name)]

    def _unpublished(self, key: Key) -> FactoryError:
        known = self.keys()
        close = difflib.get_close_matches(key, known, 3)
        how = "promote a checkpoint of this line" if key.is_line else f"materialize {key}"
        return FactoryError(
            f"{key} was never published in {', '.join(map(str, self.roots))}",
            found=f"{len(known)} published keys" + (f", close ones: {', '.join(close)}" if close else ""),
            expected=f"a publication of {key}",
            fix=f"{how}, or check its name and AIFACTORY_ROOT",
            code="unpublished",
        )


def _tree(root: Path, of: str | None) -> Iterator[tuple[Key, set[str]]]:
    for top in roots.TOPS if of is None else (of,):
        yield from _walk(root / top, tuple(top.split("/")))


def _walk(directory: Path, segments: tuple[str, ...]) -> Iterator[tuple[Key, set[str]]]:
    """Keys at and under `directory`, each with the `@` names that it holds; what is not a key is passed over."""
    if directory.is_symlink() or not directory.is_dir():
        return
    try:
        inner = [path.name for path in directory.iterdir()]
    except PermissionError:
        return  # another identity's: to this user it is not there
    own = {name for name in inner if name.startswith("@")}
    if own and (key := _key("/".join(segments))):
        yield key, own
    root = 1 if segments[0] == "public" else 2
    if len(segments) == root + 2 and segments[root] == LINES:
        return
    for name in inner:
        if _is_segment(name) and not (len(segments) == root and name in RESERVED):
            yield from _walk(directory / name, (*segments, name))


def _key(text: str) -> Key | None:
    try:
        return Key(text)
    except FactoryError:
        return None


def _is_segment(name: str) -> bool:
    try:
        check_segment(name, name)
    except FactoryError:
        return False
    return True
