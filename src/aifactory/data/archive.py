"""Archives from outside: read without trusting them, pinned by what they hold, kept as one canonical tar."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import lzma
import stat
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from aifactory.errors import FactoryError

_BLOCK = 1 << 20


@dataclass(frozen=True)
class Member:
    """A file in an archive: its path in it, its size, and `stream`, to be read before the next member is asked for."""

    path: str
    size: int
    stream: IO[bytes]


def open_members(archive: Path, *, strip_top: bool = False) -> Iterator[Member]:
    """The files of a tar (plain, gzip, bzip2, xz) or zip, in their order; `strip_top` leaves out the first folder.

    Folders are skipped. Raises FactoryError: code "unsafe" for a path that is absolute, leaves the archive, or stands
    there twice, and for a link or device; "truncated" for an archive that ends early or is damaged.
    """
    if not archive.is_file():
        raise FactoryError(f"{archive}: no such archive", fix="provide the file", code="missing")
    seen: set[str] = set()
    top: str | None = None
    # By its first bytes: zipfile.is_zipfile also takes a tar whose last member is a zip.
    read = _zip_members if _head(archive).startswith((b"PK\x03\x04", b"PK\x05\x06")) else _tar_members
    with _readable(archive):
        for member in read(archive):
            path = _checked(archive, member.path)
            if strip_top:
                folder, _, path = path.partition("/")
                top = folder if top is None else top
                if not path or folder != top:
                    raise FactoryError(
                        f"{archive.name}: not everything is in one top folder",
                        found=folder,
                        expected=f"{top}/...",
                        fix="read the archive without strip_top",
                        code="unsafe",
                    )
            if path in seen:
                raise _unsafe(archive, path, "two members of one path", "each path once")
            seen.add(path)
            yield Member(path, member.size, member.stream)


def members(archive: Path, *, suffix: str = "", strip_top: bool = False) -> Iterator[tuple[str, bytes]]:
    """Path and content of each file whose path ends in `suffix`; one member at a time is in memory."""
    with _readable(archive):
        for member in open_members(archive, strip_top=strip_top):
            if member.path.endswith(suffix):
                yield member.path, member.stream.read()


def tree_digest(files: Iterable[tuple[str, str]]) -> str:
    """sha256 over the sorted lines `<sha256>  <path>` of (path, sha256) pairs.

    The same as `find * -type f -exec sha256sum {} + | LC_ALL=C sort | sha256sum` in the extracted folder.
    """
    lines = sorted(f"{digest}  {path}\n".encode("utf-8", "surrogateescape") for path, digest in files)
    return hashlib.sha256(b"".join(lines)).hexdigest()


def archive_digest(archive: Path, *, strip_top: bool = False) -> str:
    """`tree_digest` of an archive's files."""
    with _readable(archive):
        return tree_digest((m.path, _digest(m.stream)) for m in open_members(archive, strip_top=strip_top))


def canonicalize(archive: Path, target: Path, *, strip_top: bool = False) -> str:
    """Write the archive's files as an uncompressed tar, sorted by path, owners, modes and times zeroed; returns the
    `tree_digest`. The same files give the same bytes whatever the archive was, on any machine.

    Needs room for a second copy of the files beside `target` while it works; memory holds names only.
    """
    with tempfile.TemporaryFile(dir=target.parent) as spool, _readable(archive):
        placed: dict[str, tuple[int, int, str]] = {}
        for member in open_members(archive, strip_top=strip_top):
            start, sha256 = spool.tell(), hashlib.sha256()
            while block := member.stream.read(_BLOCK):
                sha256.update(block)
                spool.write(block)
            placed[member.path] = (start, spool.tell() - start, sha256.hexdigest())
        with tarfile.open(target, "w", format=tarfile.PAX_FORMAT, encoding="utf-8", errors="surrogateescape") as tar:
            for path, (start, size, _) in sorted(placed.items()):
                spool.seek(start)
                info = tarfile.TarInfo(path)
                info.size, info.mode = size, 0o644
                tar.addfile(info, spool)
    return tree_digest((path, digest) for path, (_, _, digest) in placed.items())


class _Forward:
    """A decompressed stream that remembers its last read, to see how a tar ends."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self.last = b""

    def read(self, size: int = -1) -> bytes:
        self.last = self._stream.read(size)
        return self.last

    def seek(self, position: int, whence: int = 0) -> int:
        return self._stream.seek(position, whence)

    def tell(self) -> int:
        return self._stream.tell()


def _tar_members(archive: Path) -> Iterator[Member]:
    with _decompressed(archive) as stream:
        forward: Any = _Forward(stream)
        with tarfile.open(fileobj=forward, mode="r:", encoding="utf-8", errors="surrogateescape") as tar:
            for info in tar:
                if info.isfile():
                    file = tar.extractfile(info)
                    if file is not None:
                        yield Member(info.name, info.size, file)
                elif not info.isdir():
                    raise _unsafe(archive, info.name, _KINDS.get(info.type, "a special file"), "files and folders")
            # Python's reader takes a missing or broken header for the end.
            if forward.last != bytes(tarfile.BLOCKSIZE):
                raise EOFError("no end-of-archive mark")
        while stream.read(_BLOCK):  # to the end, where the checksum of a compressed file stands
            pass


def _zip_members(archive: Path) -> Iterator[Member]:
    with zipfile.ZipFile(archive) as file:
        for info in file.infolist():
            kind = stat.S_IFMT(info.external_attr >> 16)
            if info.is_dir():
                continue
            if kind not in (0, stat.S_IFREG):
                raise _unsafe(archive, info.filename, "a link or special file", "files and folders")
            if info.flag_bits & 1:
                raise _unsafe(archive, info.filename, "an encrypted file", "files without a password")
            with file.open(info) as stream:
                yield Member(info.filename, info.file_size, stream)


_KINDS = {
    tarfile.SYMTYPE: "a symbolic link",
    tarfile.LNKTYPE: "a hard link",
    tarfile.CHRTYPE: "a device",
    tarfile.BLKTYPE: "a device",
    tarfile.FIFOTYPE: "a pipe",
}
_OPENERS = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ": lzma.open}


def _head(archive: Path) -> bytes:
    with archive.open("rb") as file:
        return file.read(6)


@contextmanager
def _decompressed(archive: Path) -> Iterator[IO[bytes]]:
    head = _head(archive)
    opener: Any = next((o for magic, o in _OPENERS.items() if head.startswith(magic)), open)
    with opener(archive, "rb") as stream:
        yield stream


@contextmanager
def _readable(archive: Path) -> Iterator[None]:
    try:
        yield
    except (tarfile.TarError, EOFError, lzma.LZMAError, zlib.error, gzip.BadGzipFile, zipfile.BadZipFile) as error:
        raise FactoryError(
            f"{archive}: the archive is truncated or damaged",
            found=f"{archive.stat().st_size} bytes; {type(error).__name__}: {error}",
            expected="a whole tar (plain, gzip, bzip2, xz) or zip",
            fix="fetch or copy the file again",
            code="truncated",
        ) from error


def _checked(archive: Path, path: str) -> str:
    path = path.removeprefix("./")
    if not path or path.startswith("/") or "\\" in path or "\0" in path or ":" in path.split("/")[0]:
        raise _unsafe(archive, path, "an absolute or foreign path", "a relative path with /")
    if any(segment in ("", ".", "..") for segment in path.split("/")):
        raise _unsafe(archive, path, "a path that leaves its folder", "a path without . and ..")
    return path


def _unsafe(archive: Path, path: str, found: str, expected: str) -> FactoryError:
    return FactoryError(
        f"{archive.name}: member {path!r} is refused",
        found=found,
        expected=expected,
        fix="get the archive from its publisher again; if it is really so, repack it",
        code="unsafe",
    )


def _digest(stream: IO[bytes]) -> str:
    sha256 = hashlib.sha256()
    while block := stream.read(_BLOCK):
        sha256.update(block)
    return sha256.hexdigest()
