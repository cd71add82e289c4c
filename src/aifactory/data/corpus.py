"""The documents of one part of a stage of tokens, opened for reading: lengths, what is learned, and the tokens."""

from __future__ import annotations

import hashlib
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from aifactory.data.indexed import IndexedReader
from aifactory.data.tokens import read_docs
from aifactory.errors import FactoryError

type Ints = npt.NDArray[np.int64]


class Corpus:
    """`directory` is a part of a snapshot: `tokens-*.{bin,idx}` and `docs.parquet`.

    `lengths[d]` counts the tokens of document d, its end included. Opening compares the table with every index and
    raises FactoryError (code "mismatch") where they disagree. Memory: about 40 bytes per document; the tokens are
    mapped, or read with pread where `mmap` is False.
    """

    def __init__(self, directory: Path, *, mmap: bool = True) -> None:
        self.directory = directory
        table = read_docs(directory, ["shard", "offset", "tokens", "loss_spans"])
        self._shard = _numbers(table["shard"])
        self._offset = _numbers(table["offset"])
        self.lengths = _numbers(table["tokens"])
        spans = table["loss_spans"].combine_chunks()
        # Edges alternate: start, end, start, end, ... of all documents; document d has those from edge to edge[d + 1].
        self._edges = _numbers(spans.flatten())
        self._edge = np.concatenate([[0], np.cumsum(_numbers(spans.value_lengths()))]).astype(np.int64)
        shards = int(self._shard.max()) + 1 if len(self) else 0
        self._readers = [IndexedReader(directory / f"tokens-{n:05d}", mmap=mmap) for n in range(shards)]
        for n, reader in enumerate(self._readers):
            here = self._shard == n
            if not (
                np.array_equal(self.lengths[here], reader.lengths)
                and np.array_equal(self._offset[here], reader.offsets)
            ):
                raise FactoryError(
                    f"{directory}: docs.parquet and tokens-{n:05d}.idx describe different documents",
                    found=f"{here.sum()} documents, {self.lengths[here].sum()} tokens",
                    expected=f"{len(reader)} documents, {reader.tokens} tokens",
                    fix="restore the directory, or build the stage again",
                    code="mismatch",
                )

    def __len__(self) -> int:
        return len(self.lengths)

    @cached_property
    def digest(self) -> str:
        """16 hex digits over the documents' lengths: tells another corpus from this one, cheaply, not its tokens."""
        return hashlib.sha256(self.lengths.astype("<i8").tobytes()).hexdigest()[:16]

    def tokens(self, document: int, start: int = 0, stop: int | None = None) -> npt.NDArray[Any]:
        """Tokens [start, stop) of one document, read-only, in the stored type."""
        stop = int(self.lengths[document]) if stop is None else stop
        return self._readers[int(self._shard[document])].read(int(self._offset[document]) + start, stop - start)

    def spans(self, document: int) -> list[tuple[int, int]]:
        """The tokens [start, end) of one document that are learned, in order."""
        edges = self._edges[self._edge[document] : self._edge[document + 1]].tolist()
        return list(zip(edges[::2], edges[1::2], strict=True))

    def learned(self, document: int, start: int, stop: int) -> int:
        """How many of the tokens [start, stop) of one document are learned."""
        return sum(max(0, min(b, stop) - max(a, start)) for a, b in self.spans(document))

    def close(self) -> None:
        """Give the files back."""
        for reader in self._readers:
            reader.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _numbers(column: Any) -> Ints:
    return np.asarray(column.to_numpy(), dtype=np.int64)
