"""Sweeping: what no publication names and nobody works on any more."""

from __future__ import annotations

import re
import time
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from aifactory.errors import FactoryError
from aifactory.namespace import current, trash
from aifactory.namespace.keys import Key
from aifactory.namespace.publications import Publications
from aifactory.namespace.snapshot import folder
from aifactory.store import Store

if TYPE_CHECKING:
    from aifactory.namespace.namespace import Namespace

_VERSION = re.compile(r"@[0-9a-f]{16}")


def sweep(
    ns: Namespace, key: str | None = None, older_than: timedelta = timedelta(days=7), *, of: str | None = None
) -> list[Path]:
    """Removes stagings and unpublished versions older than `older_than`, leftovers of killed writers and sweepers.

    Of one key, of the class `of`, or of all. A directory is renamed out of sight, the journal is read again, and only
    what is still unpublished is deleted. A key whose journal can't be verified is left alone, and its error is raised
    when the others are done. Returns what was removed.
    """
    limit = time.time() - older_than.total_seconds()
    swept: list[Path] = []
    broken: FactoryError | None = None
    for one in [Key(key)] if key is not None else ns.places(of):
        directory = ns.directory(one)
        for store in [directory / "@journal", *directory.glob("@audits/*")]:
            swept += Store(store).sweep(older_than)
        try:
            swept += [path for path in sorted(directory.glob("@*")) if _sweep(ns, one, path, limit)]
        except FactoryError as error:
            broken = broken or error
    if broken:
        raise broken
    return swept


def _sweep(ns: Namespace, key: Key, path: Path, limit: float) -> bool:
    try:
        return _remove(ns, key, path, limit)
    except FileNotFoundError:
        return False  # another sweeper, or its owner, was faster


def _remove(ns: Namespace, key: Key, path: Path, limit: float) -> bool:
    if path.name.startswith(trash.PREFIX):
        # Of a sweeper that was killed: a young one may be at work, and what it deletes must not be put back.
        return path.lstat().st_ctime <= limit and _finish(ns, key, path)
    if path.name.startswith(current.TEMPORARY):
        if old := path.lstat().st_mtime <= limit:
            path.unlink(missing_ok=True)
        return old
    version = bool(_VERSION.fullmatch(path.name))
    if not version and not path.name.startswith("@staging-"):
        return False
    if _touched(path, deep=not version) > limit or (version and _published(ns, key, path.name)):
        return False
    taken = trash.take_away(path)
    if taken is None:
        return False
    # A publisher makes it young before it appends: what was touched until now goes back, later touches find nothing.
    if _touched(taken, deep=not version) > limit and trash.give_back(taken, path):
        return False
    return _finish(ns, key, taken)


def _finish(ns: Namespace, key: Key, taken: Path) -> bool:
    """Deletes what was taken away, unless it was published meanwhile: then it goes back, and this says False."""
    version = trash.version_of(taken)
    if version and _published(ns, key, f"@{version}"):
        home = taken.with_name(f"@{version}")
        if not trash.whole(key, home, home.name) and trash.put_back(key, home):
            return False
    trash.delete(taken)
    return True


def _published(ns: Namespace, key: Key, name: str) -> bool:
    return any(folder(publication.version) == name for publication in Publications(ns, key).all())


def _touched(path: Path, *, deep: bool) -> float:
    """The newest modification time in seconds: of a staging its newest file's, of a snapshot its own."""
    times = [path.lstat().st_mtime]
    if deep:
        for directory, names, files in path.walk():
            for name in [*names, *files]:
                try:
                    times.append((directory / name).lstat().st_mtime)
                except FileNotFoundError:
                    continue
    return max(times)
