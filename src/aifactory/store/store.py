"""Store: named, immutable bytes in one place."""

from __future__ import annotations

import errno
import os
import time
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

from aifactory.errors import FactoryError
from aifactory.store.files import fsync_directory, make_directory, write_file, writing

_TEMPORARY = ".tmp-"
_NO_LINKS = {errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK, errno.EXDEV}


@dataclass(frozen=True)
class Store:
    """Objects of one directory, each written once and whole.

    A name is one path segment that doesn't start with a dot. The directory is made at the first `put`.
    """

    root: Path

    def put(self, name: str, data: bytes) -> bool:
        """Writes `data` under `name` if nothing has that name; False when something has. Either way it's on the disk.

        The bytes are complete before the name appears, so no reader sees a part of them. Raises FactoryError
        "disk_full", "read_only", or "store" where the file system has no hard links.
        """
        path = self.root / _checked(name)
        make_directory(self.root)
        temporary = self.root / f"{_TEMPORARY}{os.getpid()}-{uuid4().hex}"
        with writing(path):
            try:
                write_file(temporary, data)
                created = _link(temporary, path)
                fsync_directory(self.root)
            finally:
                temporary.unlink(missing_ok=True)
        return created

    def read(self, name: str) -> bytes | None:
        """The bytes under `name`, None when nothing has that name."""
        try:
            return (self.root / _checked(name)).read_bytes()
        except FileNotFoundError:
            return None

    def names(self, prefix: str = "", after: str = "") -> list[str]:
        """Sorted names that start with `prefix` and sort after `after`; empty when the directory is not there."""
        try:
            found = os.listdir(self.root)  # noqa: PTH208
        except FileNotFoundError:
            return []
        return sorted(name for name in found if not name.startswith(".") and name.startswith(prefix) and name > after)

    def sweep(self, older_than: timedelta) -> list[Path]:
        """Removes what killed writers left behind; returns the paths."""
        limit = time.time() - older_than.total_seconds()
        swept = []
        for path in self.root.glob(f"{_TEMPORARY}*"):
            try:
                if path.lstat().st_mtime <= limit:
                    path.unlink()
                    swept.append(path)
            except FileNotFoundError:
                continue
        return swept


def _link(temporary: Path, path: Path) -> bool:
    try:
        path.hardlink_to(temporary)
    except FileExistsError:
        # A network file system may repeat a request whose answer was lost: then the existing name is our own.
        return temporary.stat().st_nlink == 2
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        raise FactoryError(
            f"{path} can't be created whole and only once",
            found=f"link: {error.strerror}",
            expected="a file system with hard links",
            fix="put the namespace on a POSIX file system (ext4, xfs, NFS, Lustre, ...)",
            code="store",
        ) from error
    return True


def _checked(name: str) -> str:
    if not name or name.startswith(".") or "/" in name or "\0" in name or len(name.encode()) > 200:
        raise FactoryError(
            "not a name for a stored object",
            found=repr(name),
            expected="one path segment of at most 200 bytes that doesn't start with a dot",
            fix="choose another name",
            code="store",
        )
    return name
