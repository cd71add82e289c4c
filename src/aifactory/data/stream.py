"""The training stream: whole documents packed into sequences, the same for any number of ranks, resumable anywhere."""

from __future__ import annotations

import zlib
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from aifactory.data.corpus import Corpus, Ints
from aifactory.errors import FactoryError

IGNORED = -100
"""The label of a position that predicts nothing."""

type State = dict[str, Any]


@dataclass(frozen=True)
class Counts:
    """What stands in some sequences. `tokens + padding == sequences * context`; `loss_tokens` are the labels that are
    learned; `documents` counts those that begin here, `pieces` the parts of documents."""

    sequences: int = 0
    documents: int = 0
    pieces: int = 0
    tokens: int = 0
    loss_tokens: int = 0
    padding: int = 0

    def __add__(self, other: Counts) -> Counts:
        return Counts(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))


@dataclass(frozen=True)
class Batch:
    """One rank's share of a global batch; every array is int64 of shape [sequences, context].

    `labels[s, i]` is the token after `tokens[s, i]` in the same document, IGNORED where it is not learned or where the
    document ends. `positions` restart at each piece. `segments` number the pieces of a sequence from 1, 0 is padding:
    position i may attend to j <= i of the same segment only. `counts` are this share's, `total` the whole batch's, and
    `state` continues after this batch.
    """

    tokens: Ints
    labels: Ints
    positions: Ints
    segments: Ints
    counts: Counts
    total: Counts
    state: State


@dataclass(frozen=True)
class _Piece:
    """Tokens [start, stop) of one document."""

    document: int
    start: int
    stop: int


class Stream:
    """An endless stream of sequences of `context` tokens over the documents of one part.

    Each epoch has an order of its own, drawn from (seed, name, epoch). Next-fit: a document goes into the open sequence
    if it fits, else the sequence is padded and a new one opened; a document longer than `context` is cut into pieces of
    `context` tokens, and the last token of a piece predicts the first of the next, so nothing is lost at a cut. Every
    token of every document appears exactly once per epoch; sequences run on from one epoch to the next.

    The stream of sequences depends on the corpus, `context`, `seed`, `name` and the state only; ranks share each batch,
    so their number may change at any batch. A `state` is a small JSON object; one of another corpus, seed or name is
    refused (FactoryError, code "state").
    """

    def __init__(
        self,
        directory: Path,
        context: int,
        seed: int,
        *,
        name: str = "",
        state: State | None = None,
        pad: int = 0,
        mmap: bool = True,
    ) -> None:
        if context < 2 or seed < 0:
            raise FactoryError(
                "a stream needs a context and a seed",
                found=f"context {context}, seed {seed}",
                expected="context >= 2, seed >= 0",
                code="stream",
            )
        self.corpus = Corpus(directory, mmap=mmap)
        self.context, self.seed, self.name, self.pad = context, seed, name, pad
        if not self.corpus.lengths.any():
            raise FactoryError(f"{directory}: no tokens to stream", found=0, expected=">= 1", code="empty")
        self._identity: State = {"format": 1, "corpus": self.corpus.digest, "seed": seed, "name": name}
        self._epoch = self._cursor = self._offset = 0
        self.seen = Counts()
        self._order = self.order(0)
        if state is not None:
            self._restore(state)

    @property
    def state(self) -> State:
        """Where the stream stands after the last batch it gave: JSON, the same on every rank.

        `epoch`, `cursor` (documents of this epoch that are used up) and `offset` (tokens of the next one that are)
        decide what follows; `seen` counts what all ranks together were given.
        """
        seen = {f.name: getattr(self.seen, f.name) for f in fields(Counts)}
        position = {"epoch": self._epoch, "cursor": self._cursor, "offset": self._offset}
        return {**self._identity, **position, "seen": seen}

    @property
    def epochs(self) -> float:
        """How many times the corpus was seen, by documents."""
        return self._epoch + self._cursor / len(self.corpus)

    def batch(self, sequences: int, *, rank: int = 0, ranks: int = 1) -> Batch:
        """The next `sequences` sequences of the stream, of which this rank gets number rank, rank + ranks, ...

        Every rank must ask for each batch, with the same `sequences`; it must divide by `ranks` (FactoryError, code
        "ranks"), since ranks with fewer sequences would leave the others waiting.
        """
        if sequences < 1 or not 0 <= rank < ranks or sequences % ranks:
            raise FactoryError(
                "the batch can't be shared out",
                found=f"{sequences} sequences, rank {rank} of {ranks}",
                expected="a number of sequences that the number of ranks divides",
                fix="change the batch's sequences or the number of workers",
                code="ranks",
            )
        packs = [self._pack() for _ in range(sequences)]
        counted = [self._counts(pack) for pack in packs]
        total = sum(counted, Counts())
        self.seen += total
        share = packs[rank::ranks]
        tokens = np.full((len(share), self.context), self.pad, dtype=np.int64)
        labels = np.full_like(tokens, IGNORED)
        positions, segments = np.zeros_like(tokens), np.zeros_like(tokens)
        for row, pack in enumerate(share):
            at = 0
            for segment, piece in enumerate(pack, 1):
                here = slice(at, at := at + piece.stop - piece.start)
                self._place(piece, tokens[row, here], labels[row, here])
                positions[row, here] = np.arange(piece.stop - piece.start)
                segments[row, here] = segment
        return Batch(tokens, labels, positions, segments, sum(counted[rank::ranks], Counts()), total, self.state)

    def order(self, epoch: int) -> Ints:
        """The documents in the order of this epoch."""
        # The raw output of PCG64 is fixed for all versions of numpy; that of `permutation` is not.
        source = np.random.PCG64([self.seed, zlib.crc32(self.name.encode()), epoch])
        return np.argsort(source.random_raw(len(self.corpus)), kind="stable")

    def close(self) -> None:
        """Give the files back."""
        self.corpus.close()

    def _pack(self) -> list[_Piece]:
        pack: list[_Piece] = []
        room = self.context
        while room:
            if self._cursor == len(self.corpus):
                self._epoch, self._cursor = self._epoch + 1, 0
                self._order = self.order(self._epoch)
            document = int(self._order[self._cursor])
            left = int(self.corpus.lengths[document]) - self._offset
            size = min(left, self.context)
            if size > room:
                break
            if size:
                pack.append(_Piece(document, self._offset, self._offset + size))
                room -= size
            if size == left:
                self._cursor, self._offset = self._cursor + 1, 0
            else:
                self._offset += size
        return pack

    def _counts(self, pack: list[_Piece]) -> Counts:
        tokens = sum(p.stop - p.start for p in pack)
        return Counts(
            sequences=1,
            documents=sum(p.start == 0 for p in pack),
            pieces=len(pack),
            tokens=tokens,
            # The labels of [start, stop) are the tokens one further on.
            loss_tokens=sum(self.corpus.learned(p.document, p.start + 1, p.stop + 1) for p in pack),
            padding=self.context - tokens,
        )

    def _place(self, piece: _Piece, tokens: Ints, labels: Ints) -> None:
        end = int(self.corpus.lengths[piece.document])
        read = self.corpus.tokens(piece.document, piece.start, min(piece.stop + 1, end))
        tokens[:] = read[: len(tokens)]
        for start, stop in self.corpus.spans(piece.document):
            first, last = max(start, piece.start + 1) - piece.start, min(stop, piece.stop + 1) - piece.start
            if first < last:
                labels[first - 1 : last - 1] = read[first:last]

    def _restore(self, state: State) -> None:
        differing = {k: state.get(k) for k, v in self._identity.items() if state.get(k) != v}
        if differing:
            raise FactoryError(
                f"{self.corpus.directory}: the saved position belongs to another stream",
                found=differing,
                expected={k: self._identity[k] for k in differing},
                fix="resume with the inputs, seed and mix of the run that saved it",
                code="state",
            )
        epoch, cursor, offset = (int(state[k]) for k in ("epoch", "cursor", "offset"))
        size = len(self.corpus)
        if epoch >= 0:
            self._order = self.order(epoch)
        if epoch < 0 or not 0 <= cursor <= size or not 0 <= offset < max(1, self._length_at(cursor)):
            raise FactoryError(
                "the saved position is out of range",
                found={"epoch": epoch, "cursor": cursor, "offset": offset},
                expected=f"epoch >= 0, cursor 0 to {size}, an offset within its document",
                fix="resume from another checkpoint; this one is damaged",
                code="state",
            )
        self._epoch, self._cursor, self._offset = epoch, cursor, offset
        self.seen = Counts(**state["seen"])

    def _length_at(self, cursor: int) -> int:
        return int(self.corpus.lengths[self._order[cursor]]) if cursor < len(self.corpus) else 0
