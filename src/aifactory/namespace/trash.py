"""Taking directories out of sight before they are deleted, and putting one back."""

from __future__ import annotations

import shutil
import time
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

from aifactory.errors import FactoryError
from aifactory.namespace.keys import Key
from aifactory.namespace.snapshot import SHORT, Snapshot

PREFIX = "@trash-"


def take_away(path: Path) -> Path | None:
    """Renames `path` to `@trash-<its name>-<8 hex>` beside it; None when somebody else took it first."""
    trash = path.with_name(f"{PREFIX}{path.name.removeprefix('@')}-{uuid4().hex[:8]}")
    try:
        path.rename(trash)
    except FileNotFoundError:
        return None
    return trash


def give_back(taken: Path, home: Path) -> bool:
    """Undoes `take_away`; False when something else stands at `home` by now."""
    try:
        taken.rename(home)
    except OSError:
        return False
    return True


def delete(trash: Path) -> None:
    """Deletes what `take_away` returned; another sweeper may be doing the same."""
    with suppress(FileNotFoundError):
        trash.chmod(0o700)  # what a build copied may have read-only directories
    for directory, names, _ in trash.walk():
        for name in names:
            with suppress(FileNotFoundError):
                (directory / name).chmod(0o700)
    shutil.rmtree(trash, onexc=_gone)


def put_back(key: Key, home: Path) -> bool:
    """Renames a whole snapshot that was taken away back to `home` (`@<version>`); True when `home` is there now."""
    for trash in sorted(home.parent.glob(f"{PREFIX}{home.name[1:]}-*")):
        try:
            if whole(key, trash, home.name):
                trash.rename(home)
        except OSError:
            continue
    return home.is_dir()


def returns(key: Key, home: Path, seconds: float = 3.0) -> bool:
    """Whether a whole snapshot is at `home`, waiting a moment for a sweeper that took it to put it back.

    Only the sweeper itself may do that: it knows that it isn't deleting.
    """
    limit = time.monotonic() + seconds
    while not whole(key, home, home.name):
        if time.monotonic() > limit or not any(home.parent.glob(f"{PREFIX}{home.name[1:]}-*")):
            return whole(key, home, home.name)
        time.sleep(0.05)
    return True


def whole(key: Key, path: Path, name: str) -> bool:
    """Whether `path` holds every file of the version that `name` (`@<version>`) names, by sizes."""
    try:
        Snapshot.load(key, path, named=name).look()
    except FactoryError:
        return False
    return True


def version_of(trash: Path) -> str | None:
    """The 16 digits of the version in the name of a trash directory; None when it was a staging."""
    name = trash.name.removeprefix(PREFIX).rpartition("-")[0]
    return name if len(name) == SHORT and set(name) <= set("0123456789abcdef") else None


def _gone(function: object, path: str, error: BaseException) -> None:
    if not isinstance(error, FileNotFoundError):
        raise error
