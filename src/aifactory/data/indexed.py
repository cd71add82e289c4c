"""Token files, without torch: Megatron's `.bin` (ids one after another) and `.idx` (lengths, offsets), to the byte."""

from __future__ import annotations

import os
import struct
from array import array
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Self

import numpy as np
import numpy.typing as npt

from aifactory.errors import FactoryError

type Ids = npt.NDArray[Any]

_MAGIC = b"MMIDIDX\x00\x00"
_HEADER = struct.Struct("<9sQBQQ")  # magic, version, code of the type, sequences, length of the document index
_TYPES: dict[int, Any] = {1: np.uint8, 2: np.int8, 3: np.int16, 4: np.int32, 5: np.int64, 8: np.uint16}
_CODES = {np.dtype(kind): code for code, kind in _TYPES.items()}


def token_type(vocabulary: int) -> np.dtype[Any]:
    """The type that ids are stored in: uint16 for a vocabulary of at most 65,535, else int32."""
    return np.dtype(np.uint16 if vocabulary <= 65_535 else np.int32)


class IndexedWriter:
    """Writes documents to `<prefix>.bin` and, at `finish`, `<prefix>.idx`; both are fsynced.

    Used as a context manager it finishes on success; after an error the `.bin` stays without an index, which no reader
    opens. Ids outside [0, vocabulary) and empty documents are refused, never wrapped or skipped.
    """

    def __init__(self, prefix: Path, vocabulary: int) -> None:
        if not 0 < vocabulary <= 1 << 31:
            raise FactoryError("a vocabulary out of range", found=vocabulary, expected="1 to 2^31", code="vocabulary")
        self.prefix, self.vocabulary, self.dtype = prefix, vocabulary, token_type(vocabulary)
        self.tokens = 0
        self._lengths = array("i")
        prefix.parent.mkdir(parents=True, exist_ok=True)
        self._bin = suffixed(prefix, ".bin").open("wb")

    @property
    def documents(self) -> int:
        """How many documents were added."""
        return len(self._lengths)

    @property
    def bytes(self) -> int:
        """Size of the `.bin` so far."""
        return self.tokens * self.dtype.itemsize

    def add(self, ids: Sequence[int] | Ids) -> int:
        """Append one document; returns the offset of its first token in the file, in tokens.

        Raises FactoryError: code "empty" for a document without tokens, "token_range" for an id out of range.
        """
        tokens = np.asarray(ids)
        what = f"{self.prefix.name}: document {self.documents}"
        if tokens.ndim != 1 or tokens.size == 0 or tokens.dtype.kind not in "iu":
            raise FactoryError(
                f"{what} holds no tokens" if tokens.size == 0 else f"{what} is no flat row of integers",
                found=f"{tokens.dtype}, shape {tokens.shape}",
                expected="at least one integer",
                fix="drop empty documents before they are written, and count them",
                code="empty" if tokens.size == 0 else "tokens",
            )
        low, high = int(tokens.min()), int(tokens.max())
        if low < 0 or high >= self.vocabulary:
            raise FactoryError(
                f"{what} holds a token id out of range",
                found=low if low < 0 else high,
                expected=f"0 to {self.vocabulary - 1}",
                fix="tokenize with the tokenizer that this vocabulary belongs to",
                code="token_range",
            )
        offset = self.tokens
        self._bin.write(tokens.astype(self.dtype).tobytes())
        self._lengths.append(tokens.size)
        self.tokens += tokens.size
        return offset

    def finish(self) -> None:
        """Write the index. Raises FactoryError (code "empty") when nothing was added, as Megatron can't open that."""
        if not self._lengths:
            self._bin.close()
            raise FactoryError(f"{self.prefix.name}: no documents were written", found=0, expected=">= 1", code="empty")
        _sync(self._bin)
        lengths = np.frombuffer(self._lengths, dtype=np.int32)
        with suffixed(self.prefix, ".idx").open("wb") as idx:
            idx.write(_HEADER.pack(_MAGIC, 1, _CODES[self.dtype], len(lengths), len(lengths) + 1))
            idx.write(lengths.tobytes())
            idx.write(_pointers(lengths, self.dtype.itemsize).tobytes())
            idx.write(np.arange(len(lengths) + 1, dtype=np.int64).tobytes())
            _sync(idx)

    def abandon(self) -> None:
        """Stop without an index: what is there is no token file."""
        self._bin.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if kind is None:
            self.finish()
        else:
            self.abandon()


class IndexedReader:
    """Reads `<prefix>.bin` and `<prefix>.idx`, ours or Megatron's. `reader[n]` is document n, a read-only array.

    Opening compares both files' sizes with what the index says and raises FactoryError (code "truncated") that names
    both. `mmap=False` reads with pread, the better way on network storage.
    """

    def __init__(self, prefix: Path, *, mmap: bool = True) -> None:
        self.prefix = prefix
        self._fd = -1
        self._read_index(suffixed(prefix, ".idx"))
        path = suffixed(prefix, ".bin")
        expected = int(self.lengths.sum(dtype=np.int64)) * self.dtype.itemsize
        _same_size(path, _size(path), expected)
        self.tokens = expected // self.dtype.itemsize
        self._map: Ids | None = None
        if mmap:
            # An empty file can't be mapped.
            self._map = np.memmap(path, self.dtype, "r") if expected else np.empty(0, self.dtype)
        else:
            self._fd = os.open(path, os.O_RDONLY)

    def __len__(self) -> int:
        return len(self.lengths)

    def __getitem__(self, index: int) -> Ids:
        if not -len(self) <= index < len(self):
            raise IndexError(f"{self.prefix.name}: document {index} of {len(self)}")
        return self.read(int(self.offsets[index]), int(self.lengths[index]))

    def read(self, offset: int, count: int) -> Ids:
        """`count` tokens from `offset` (in tokens), across documents, as a read-only array of the stored type."""
        if offset < 0 or count < 0 or offset + count > self.tokens:
            raise IndexError(f"{self.prefix.name}: tokens {offset} to {offset + count} of {self.tokens}")
        if self._map is not None:
            return np.asarray(self._map[offset : offset + count])
        if self._fd < 0:
            raise ValueError(f"{self.prefix.name}: the reader is closed")
        size = self.dtype.itemsize
        data = os.pread(self._fd, count * size, offset * size)
        while len(data) < count * size:
            more = os.pread(self._fd, count * size - len(data), offset * size + len(data))
            if not more:
                path = suffixed(self.prefix, ".bin")
                _same_size(path, _size(path), self.tokens * size)
                raise OSError(f"{path}: can't be read past byte {offset * size + len(data)}")
            data += more
        return np.frombuffer(data, self.dtype)

    def close(self) -> None:
        """Give the file back; nothing can be read afterwards."""
        self._map = None
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_fd", -1) >= 0:
            self.close()

    def _read_index(self, path: Path) -> None:
        size = _size(path)
        with path.open("rb") as file:
            head = file.read(_HEADER.size)
            if len(head) < _HEADER.size:
                _same_size(path, size, f">= {_HEADER.size}")
            magic, version, code, count, documents = _HEADER.unpack(head)
            if magic != _MAGIC or version != 1 or code not in _TYPES:
                raise FactoryError(
                    f"{path}: not an index of tokens",
                    found=f"{magic!r}, version {version}, type {code}",
                    expected=f"{_MAGIC!r}, version 1, type one of {sorted(_TYPES)}",
                    code="format",
                )
            _same_size(path, size, _HEADER.size + 12 * count + 8 * documents)
            self.dtype: np.dtype[Any] = np.dtype(_TYPES[code])
            self.lengths: npt.NDArray[np.int32] = np.frombuffer(file.read(4 * count), np.int32)
            pointers = np.frombuffer(file.read(8 * count), np.int64)
            self.documents: npt.NDArray[np.int64] = np.frombuffer(file.read(8 * documents), np.int64)
        wrong = np.flatnonzero(pointers != _pointers(self.lengths, self.dtype.itemsize))
        if count and (int(self.lengths.min()) < 0 or wrong.size):
            raise FactoryError(
                f"{path}: offsets and lengths disagree",
                found=f"{wrong.size} of {count} sequences",
                expected="sequences one after another",
                fix="restore the file, or build the stage again",
                code="format",
            )
        self.offsets: npt.NDArray[np.int64] = pointers // self.dtype.itemsize


def suffixed(prefix: Path, suffix: str) -> Path:
    """`tokens-00000` and `.bin` to `tokens-00000.bin`; a dot in the prefix is part of its name."""
    return prefix.with_name(prefix.name + suffix)


def _pointers(lengths: npt.NDArray[np.int32], itemsize: int) -> npt.NDArray[np.int64]:
    pointers = np.zeros(len(lengths), dtype=np.int64)
    np.cumsum(lengths[:-1], dtype=np.int64, out=pointers[1:])
    return pointers * itemsize


def _sync(file: BinaryIO) -> None:
    file.flush()
    os.fsync(file.fileno())
    file.close()


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        raise FactoryError(f"{path}: no such file", fix="build the stage again", code="missing") from None


def _same_size(path: Path, found: int, expected: int | str) -> None:
    if found != expected:
        raise FactoryError(
            f"{path}: the file does not have the size that its index says",
            found=f"{found} bytes",
            expected=f"{expected} bytes",
            fix="restore the file from where it was copied, or build the stage again",
            code="truncated",
        )
