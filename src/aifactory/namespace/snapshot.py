"""Snapshot: one immutable version of a key, read only after it was verified."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from aifactory.errors import FactoryError
from aifactory.namespace import limits, names
from aifactory.namespace.keys import Key
from aifactory.namespace.manifest import MANIFEST, RESTORE, FileEntry, Manifest, decode
from aifactory.store import hash_file, writing

SHORT = 16


def folder(version: str) -> str:
    """The directory of a version inside its key's directory: `@` and 16 of its 64 digits."""
    return f"@{version[:SHORT]}"


@dataclass(frozen=True)
class Snapshot:
    """`key@version`: `version` has 64 digits, `path` is its directory at this site."""

    key: Key
    version: str
    path: Path
    manifest: Manifest

    @classmethod
    def load(cls, key: Key, path: Path, version: str | None = None, *, named: str | None = None) -> Self:
        """The snapshot in `path`, published or not; with `version` (64 digits) it must be that one.

        Reads only the manifest, and compares it with the directory's name (`named`, where it was renamed); `verify`
        reads the files. Raises FactoryError "missing", "integrity", or "undeclared" inside a run that declares another.
        """
        file, named = path / MANIFEST, named or path.name
        if path.is_symlink() or file.is_symlink():
            raise _link(path if path.is_symlink() else file)
        try:
            data = file.read_bytes()
        except (FileNotFoundError, NotADirectoryError) as error:
            raise _missing(file, f"{key}{named}", "no manifest", "a whole snapshot") from error
        manifest = decode(data, file)
        if limit := limits.current():
            limit.check_version(key, manifest.version)
        expected = version or named.removeprefix("@")
        if not manifest.version.startswith(expected) or folder(manifest.version) != named:
            raise FactoryError(
                f"{file} was altered: it doesn't have the version that names it",
                found=manifest.version,
                expected=expected,
                fix=RESTORE.format(path=path),
                code="integrity",
            )
        return cls(key, manifest.version, path, manifest)

    @property
    def name(self) -> str:
        """`key@<16 digits>`."""
        return f"{self.key}{folder(self.version)}"

    @property
    def canonical(self) -> str:
        """`/factory/<key>/@<16 digits>`: the name of the same bytes at every site."""
        return f"/factory/{self.key}/{folder(self.version)}"

    def files(self, part: str | None = None) -> list[FileEntry]:
        """The files of a part, all files without one; FactoryError "part" when it has none of that part."""
        found = [file for file in self.manifest.files if part is None or file.part == part]
        if not found:
            raise FactoryError(
                f"{self.name} has no part {part!r}",
                found=", ".join(self.manifest.parts) or "no parts",
                expected=part,
                fix="name a part that it has, or split the dataset",
                code="part",
            )
        return found

    def paths(self, part: str | None = None) -> list[Path]:
        """Absolute paths of `files(part)`, in the manifest's order."""
        return [self.path / file.path for file in self.files(part)]

    def verify(self, files: Iterable[str | FileEntry] | None = None) -> None:
        """Reads `files` (paths in the snapshot, or entries; all when None) and compares size and sha256.

        Raises FactoryError "integrity" naming the file and both values; "missing" when it isn't there.
        """
        for entry in self._entries(files):
            self._look(entry)
            try:
                _, sha256 = hash_file(names.open_real(self._top, self._segments(entry)))
            except OSError as error:
                self._look(entry)  # says which directory it is, unless what stood there is back by now
                raise self._swapped(entry, error) from error
            if sha256 != entry.sha256:
                raise self._differs(entry, f"sha256 {sha256}", f"sha256 {entry.sha256}")

    def look(self) -> None:
        """Like `verify`, by sizes alone: cheap, for what only has to know that the files are there and its own (no
        symlink took the place of one, or of a directory on the way to it)."""
        for entry in self.manifest.files:
            self._look(entry)

    def touch(self) -> None:
        """Makes it young again for the sweeper: somebody is about to publish it. FactoryError "missing"."""
        try:
            with writing(self.path):
                os.utime(self.path)
        except FileNotFoundError as error:
            raise _missing(self.path, self.name, "no directory", "a whole snapshot") from error

    def _entries(self, files: Iterable[str | FileEntry] | None) -> list[FileEntry]:
        if files is None:
            return list(self.manifest.files)
        known = {file.path: file for file in self.manifest.files}
        wanted = [file if isinstance(file, str) else file.path for file in files]
        for path in wanted:
            if path not in known:
                raise FactoryError(
                    f"{self.name} lists no file {path!r}",
                    found=path,
                    expected=f"one of its {len(known)} files",
                    fix=f"read the list in {self.path / MANIFEST}",
                    code="missing",
                )
        return [known[path] for path in wanted]

    def _look(self, entry: FileEntry) -> None:
        place = self._top
        for segment in self._segments(entry):
            place = place / segment
            if place.is_symlink():
                raise _link(place)
        try:
            status = place.stat()
        except (FileNotFoundError, NotADirectoryError) as error:
            raise _missing(place, self.name, "no file", f"{entry.bytes} bytes") from error
        if not stat.S_ISREG(status.st_mode) or status.st_size != entry.bytes:
            raise self._differs(entry, f"{status.st_size} bytes", f"{entry.bytes} bytes")

    @property
    def _top(self) -> Path:
        """The root of the tree: from here on nothing may be a symlink."""
        depth = len(self.key.segments)
        inside = self.path.parts[-1 - depth : -1] == self.key.segments
        return self.path.parents[depth] if inside else self.path

    def _segments(self, entry: FileEntry) -> tuple[str, ...]:
        return (*self.path.relative_to(self._top).parts, *entry.path.split("/"))

    def _swapped(self, entry: FileEntry, error: OSError) -> FactoryError:
        return FactoryError(
            f"{self.path / entry.path} was taken away while it was read",
            found=error.strerror,
            expected=f"a plain file of {entry.bytes} bytes, in directories that are no symlinks",
            fix="find out who writes there besides the factory, then run this again",
            code="escape" if error.errno in (errno.ELOOP, errno.ENOTDIR) else "missing",
        )

    def _differs(self, entry: FileEntry, found: str, expected: str) -> FactoryError:
        return FactoryError(
            f"{self.path / entry.path} is not what {self.name} lists",
            found=found,
            expected=expected,
            fix=RESTORE.format(path=self.path),
            code="integrity",
        )


def _missing(path: Path, name: str, found: str, expected: str) -> FactoryError:
    home = next((one for one in (path, *path.parents) if one.name.startswith("@")), path)
    return FactoryError(
        f"{path} is missing from {name}",
        found=found,
        expected=expected,
        fix=RESTORE.format(path=home),
        code="missing",
    )


def _link(path: Path) -> FactoryError:
    try:
        target = str(path.readlink())
    except OSError:
        target = "nothing any more: somebody is changing it"
    return FactoryError(
        f"{path} is a symlink",
        found=f"-> {target}",
        expected="a plain file or directory: a snapshot holds its own bytes",
        fix="remove the symlink and put back what stood there; `aifactory path KEY --verify` tells whether it is whole",
        code="escape",
    )
