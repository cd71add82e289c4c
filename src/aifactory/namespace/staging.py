"""Staging: where a build writes, out of sight until its content has a version."""

from __future__ import annotations

import os
import re
import shutil
import stat
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from pydantic import ValidationError

from aifactory.errors import FactoryError
from aifactory.namespace import access, trash
from aifactory.namespace.keys import Key
from aifactory.namespace.manifest import MANIFEST, Column, FileEntry, Kind, Manifest, encode
from aifactory.namespace.snapshot import Snapshot, folder
from aifactory.store import fsync_directory, hash_file, make_directory, write_file, writing

if TYPE_CHECKING:
    from aifactory.namespace.namespace import Namespace

_RUN = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}")


@dataclass(frozen=True)
class Staging:
    """A directory `path` to write files into (subdirectories are fine), then `seal` or `discard`.

    As a context manager it discards itself when it wasn't sealed. What a killed build leaves is swept later.
    """

    key: Key
    path: Path

    @classmethod
    def start(
        cls, ns: Namespace, key: str, run: str, *, inputs: Iterable[str] = (), grants: Iterable[access.Grant] = ()
    ) -> Self:
        """Makes an empty `@staging-<run>` in the key's directory; what an earlier attempt of the run left is dropped.

        `inputs` are the keys that will be read: FactoryError "class" when this key's class may not hold them.
        """
        key = Key(key)
        access.check(key.access, {name: Key(name).access for name in inputs}, grants, output=key)
        if not _RUN.fullmatch(run):
            raise FactoryError(
                "not a run's name",
                found=repr(run),
                expected="at most 100 letters, digits, `-`, `_` and `.`",
                fix="use the run's name, such as build-clean-0123456789ab",
                code="run",
            )
        home = ns.directory(key)
        make_directory(home)
        path = home / f"@staging-{run}"
        with writing(path):
            left = trash.take_away(path)
            if left:
                trash.delete(left)
            path.mkdir()
        return cls(key, path)

    def seal(
        self,
        *,
        kind: Kind,
        columns: Sequence[Column] = (),
        benchmark: bool = False,
        rows: Mapping[str, tuple[int | None, str | None]] | None = None,
    ) -> tuple[Snapshot, bool]:
        """Hashes and flushes every file, writes the manifest, makes the files read-only and renames the directory.

        `rows` gives (rows, part) by relative path; a file that it doesn't name has neither. Returns the snapshot and
        whether that version was there already (then this directory is gone; one that was damaged is replaced).
        Nothing is published yet.
        """
        entries = self._entries(rows or {})
        try:
            manifest = Manifest(
                kind=kind, columns=tuple(columns), access=self.key.access, benchmark=benchmark, files=entries
            )
        except ValidationError as error:
            raise self._refused("can't be a snapshot", error.errors()[0]["msg"]) from error
        with writing(self.path):
            write_file(self.path / MANIFEST, encode(manifest))
            for directory, _, _ in self.path.walk():
                fsync_directory(directory)
            home = self.path.parent / folder(manifest.version)
            existed = not self._move(home, manifest.version)
            fsync_directory(home.parent)
        return Snapshot.load(self.key, home, manifest.version), existed

    def discard(self) -> None:
        """Removes the directory; no error when it was sealed or removed before."""
        left = trash.take_away(self.path)
        if left:
            trash.delete(left)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.discard()

    def _move(self, home: Path, version: str) -> bool:
        while True:
            try:
                self.path.rename(home)
                return True
            except OSError:
                if not home.is_dir():
                    raise
            try:
                there = Snapshot.load(self.key, home, version)
                there.verify()
            except FactoryError:
                damaged = trash.take_away(home)
                if damaged:
                    trash.delete(damaged)
                continue
            there.touch()
            self.discard()
            return False

    def _entries(self, rows: Mapping[str, tuple[int | None, str | None]]) -> tuple[FileEntry, ...]:
        found = self._files()
        unknown = sorted(set(rows) - set(found))
        if unknown:
            raise self._refused("lacks a file that has rows or a part", f"no {unknown[0]!r}", "the file")
        with ThreadPoolExecutor(max_workers=min(8, os.cpu_count() or 1)) as pool:
            hashed = dict(zip(found, pool.map(_finish, found.values()), strict=True))
        try:
            return tuple(
                FileEntry(path=name, bytes=size, sha256=sha256, rows=counted, part=part)
                for name, (size, sha256) in sorted(hashed.items())
                for counted, part in [rows.get(name, (None, None))]
            )
        except ValidationError as error:
            raise self._refused("has a file that a snapshot can't hold", error.errors()[0]["msg"]) from error

    def _files(self) -> dict[str, Path]:
        found: dict[str, Path] = {}
        for directory, _, names in self.path.walk():  # a symlink is a name here, to a directory too
            for path in (directory / name for name in names):
                mode = path.lstat().st_mode
                if not stat.S_ISREG(mode):
                    what = f"a symlink to {path.readlink()}" if stat.S_ISLNK(mode) else "a special file"
                    raise self._refused(f"holds {path}", what, "files and directories only", code="escape")
                found[path.relative_to(self.path).as_posix()] = path
        for directory, _, _ in self.path.walk(top_down=False):
            if directory != self.path and not any(directory.iterdir()):
                directory.rmdir()  # an empty directory is no content
        if not found:
            raise self._refused("holds no file", "nothing", "at least one file", code="empty")
        return found

    def _refused(self, what: str, found: object, expected: object = None, code: str = "staging") -> FactoryError:
        return FactoryError(
            f"the build of {self.key} {what}",
            found=found,
            expected=expected,
            fix="change what the stage's function writes or returns",
            code=code,
        )


def _finish(path: Path) -> tuple[int, str]:
    """Makes one file read-only and durable; returns its size and sha256."""
    with writing(path):
        if path.lstat().st_nlink > 1:
            # A hard link shares its bytes with a name outside, through which they could still change.
            own = path.with_name(f"{path.name}.own")
            shutil.copyfile(path, own)
            own.replace(path)
        path.chmod(stat.S_IMODE(path.lstat().st_mode) & 0o555 | 0o400)
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
    return hash_file(path)
