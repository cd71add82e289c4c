"""Files that survive a crash: what was written is on the disk before anything names it."""

from __future__ import annotations

import errno
import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from aifactory.errors import FactoryError

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_READ_ONLY = {errno.EROFS, errno.EACCES, errno.EPERM}


def hash_file(path: Path | int) -> tuple[int, str]:
    """Size in bytes and SHA-256 (64 hexadecimal digits) of the bytes of one file, read once; an open descriptor is
    closed at the end."""
    with open(path, "rb", buffering=0) as file:  # noqa: PTH123
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
        return file.tell(), sha256


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turns a full disk (code "disk_full") and a read-only place (code "read_only") into errors that name `path`."""
    try:
        yield
    except OSError as error:
        if error.errno in _FULL:
            raise FactoryError(
                f"no room to write {path}",
                found=_room(path),
                expected="room for the file",
                fix="free space or raise the quota there (`aifactory doctor` shows the disk), then run this again; "
                "nothing of this write is visible",
                code="disk_full",
            ) from error
        if error.errno in _READ_ONLY:
            raise _closed(path, error) from error
        raise


def fsync_directory(path: Path) -> None:
    """Puts the names in a directory on the disk."""
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def make_directory(path: Path) -> None:
    """Creates a directory and its missing parents, each name on the disk before this returns.

    FactoryError "read_only" where none can be: a file is in the way, or the file system takes no new one.
    """
    missing = []
    place = path
    try:
        while not place.is_dir():
            missing.append(place)
            place = place.parent
        for place in reversed(missing):
            with writing(place):
                place.mkdir(exist_ok=True)
                fsync_directory(place.parent)
    except OSError as error:
        raise _closed(place, error) from error


def write_file(path: Path, data: bytes, mode: int = 0o444) -> None:
    """Creates `path` (which must not exist) with `data`, flushed to the disk; the caller flushes the directory.

    `mode` is what the umask leaves of it; the default makes a file that nobody writes to again.
    """
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    try:
        view = memoryview(data)
        while view:
            view = view[os.write(handle, view) :]
        os.fsync(handle)
    finally:
        os.close(handle)


def _closed(path: Path, error: OSError) -> FactoryError:
    return FactoryError(
        f"can't write {path}",
        found=error.strerror,
        expected=f"a place that uid {os.geteuid()} may write",
        fix="mount it read-write, give this user the right, or point AIFACTORY_ROOT at a place of your own",
        code="read_only",
    )


def _room(path: Path) -> str:
    place = path
    while not place.exists():
        place = place.parent
    free = os.statvfs(place)
    return f"{free.f_bavail * free.f_frsize:,} bytes and {free.f_favail:,} file names free at {place}"
