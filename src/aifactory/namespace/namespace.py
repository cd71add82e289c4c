"""Namespace: one tree of keys, the same at every site."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from aifactory.errors import FactoryError
from aifactory.namespace import access, decide, limits, names
from aifactory.namespace.keys import LINES, RESERVED, Key, check_segment
from aifactory.namespace.publications import Publications
from aifactory.namespace.snapshot import Snapshot, folder
from aifactory.project import Project


@dataclass(frozen=True)
class Namespace:
    """The tree under `root`, which is made by the first write into it."""

    root: Path

    @classmethod
    def open(cls) -> Self:
        """The namespace of the current project: AIFACTORY_ROOT, else `.aifactory/namespace` in the checkout."""
        return cls(Project.current().namespace)

    def directory(self, key: str) -> Path:
        """The directory of a key; FactoryError "escape" when a symlink stands in its place or on the way to it,
        "undeclared" inside a run that doesn't declare the key."""
        if limit := limits.current():
            limit.check_key(Key(key))
        return names.real(self.root, Key(key).segments)

    def class_root(self, of: str) -> Path:
        """`<root>/public` or `<root>/private/<project>`: where a class keeps its runs, specs, claims and images."""
        return names.real(self.root, access.validate(of).split("/"))

    def keys(self, of: str | None = None) -> list[Key]:
        """Every key that was ever published, of one class or of all that this user may read, sorted."""
        return sorted(key for key, own in self._walk(of) if "@journal" in own)

    def places(self, of: str | None = None) -> list[Key]:
        """Every key whose directory holds something of its own, published or not, sorted."""
        return sorted(key for key, _ in self._walk(of))

    def resolve(self, key: str, version: str | None = None) -> Snapshot:
        """The published snapshot that `key`, or `key@version`, names: current without a version.

        `version` (or what follows `@`) is one of the 64 digits, or 8 or more of them if only one version begins so.
        Inside a run both stand for what its spec declares, whatever is current by now, and no journal is read.
        Raises FactoryError "unpublished" (nothing of this key is), "version", "missing", "integrity", "journal",
        "undeclared" (inside a run, which declares something else).
        Only the manifest is verified: call `verify` on what is going to be read.
        """
        text, at, pinned = key.partition("@")
        found = Key(text)
        if limit := limits.current():
            declared = limit.version(found, version if version is not None else pinned if at else None)
            return Snapshot.load(found, self.directory(found) / folder(declared), declared)
        publications = Publications(self, found)
        records = publications.all()
        if not records:
            raise self._unpublished(found)
        if at or version is not None:
            wanted = decide.find(found, version if version is not None else pinned, records)
        else:
            wanted = records[-1].version
        return Snapshot.load(found, publications.directory / folder(wanted), wanted)

    def local(self, name: str | Path) -> Path:
        """The path at this site of a canonical name, a key, `key@version` or a path inside the tree.

        A key stands for its current snapshot, a line that nothing was promoted to for its directory. Nothing has to
        exist for a canonical name or a path. Raises FactoryError "escape" for what lies outside of the tree or leaves
        it by a symlink, "undeclared" for what the run in this process doesn't declare.
        """
        text = str(name)
        if text == names.PREFIX or text.startswith(f"{names.PREFIX}/"):
            return self._open(names.from_canonical(self.root, text))
        if isinstance(name, Path) or Path(text).is_absolute() or not text.startswith(("public/", "private/")):
            return self._open(names.inside(self.root, Path(text).absolute()))
        bare, at, _ = text.partition("@")
        if names.is_control(bare) or "/@" in text:
            return self._open(names.from_canonical(self.root, f"{names.PREFIX}/{text}"))
        if not at and Key(bare).is_line and Publications(self, Key(bare)).current() is None:
            return self.directory(bare)
        return self.resolve(text).path

    def canonical(self, path: str | Path) -> str:
        """`/factory/...` of a path inside the tree; `@current` becomes the version that it names."""
        return names.to_canonical(self.root, Path(path))

    def _open(self, path: Path) -> Path:
        if limit := limits.current():
            limit.check_path(names.to_canonical(self.root, path).removeprefix(f"{names.PREFIX}/"))
        return path

    def _walk(self, of: str | None) -> Iterator[tuple[Key, set[str]]]:
        for top in ("public", "private") if of is None else (of,):
            yield from _walk(self.root / top, tuple(top.split("/")))

    def _unpublished(self, key: Key) -> FactoryError:
        known = self.keys()
        close = difflib.get_close_matches(key, known, 3)
        return FactoryError(
            f"{key} was never published in {self.root}",
            found=f"{len(known)} published keys" + (f", close ones: {', '.join(close)}" if close else ""),
            expected=f"a publication of {key}",
            fix=f"materialize {key}, or check its name and AIFACTORY_ROOT",
            code="unpublished",
        )


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
