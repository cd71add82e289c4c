"""Training-ready tokens of one part: `tokens-00000.{bin,idx}`, ... and `docs.parquet`, one row per document."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import batched, pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from aifactory.data.bpe import BPE
from aifactory.data.indexed import IndexedWriter
from aifactory.data.normalize import VERSION, text_digest
from aifactory.data.shards import GROUP_ROWS, SHARD_BYTES
from aifactory.errors import FactoryError

type Span = tuple[int, int]

DOCS = "docs.parquet"
SCHEMA = pa.schema(
    [
        pa.field("doc", pa.string(), nullable=False),
        pa.field("group", pa.string(), nullable=False),
        pa.field("shard", pa.int32(), nullable=False),
        pa.field("offset", pa.int64(), nullable=False),
        pa.field("tokens", pa.int32(), nullable=False),
        pa.field("loss_tokens", pa.int32(), nullable=False),
        pa.field("loss_spans", pa.list_(pa.field("element", pa.int32(), nullable=False)), nullable=False),
        pa.field("sha256", pa.string(), nullable=False),
    ],
    metadata={"normalize": str(VERSION)},
)
"""`offset` and `tokens` count tokens in the shard's `.bin`, end of document included. `loss_spans` is start, end,
start, end, ...: the tokens [start, end) of the document that are learned, never the first, which nothing predicts.
`sha256` is the digest of the normal form of the text (`aifactory.data.normalize`)."""


@dataclass(frozen=True, slots=True)
class Document:
    """What to write: `answers` are spans [start, end) of characters that are learned; None means the whole text."""

    id: str
    group: str
    text: str
    answers: tuple[Span, ...] | None = None


@dataclass
class TokenCounts:
    """What was written and what was left out: `dropped` counts documents by reason ("empty", "no loss tokens")."""

    documents: int = 0
    tokens: int = 0
    loss_tokens: int = 0
    shards: int = 0
    dropped: Counter[str] = field(default_factory=Counter)
    lengths: Counter[int] = field(default_factory=Counter)
    """Documents by the smallest power of two that their number of tokens does not exceed."""


def write_tokens(
    documents: Iterable[Document], directory: Path, bpe: BPE, *, shard_bytes: int = SHARD_BYTES, batch: int = 1024
) -> TokenCounts:
    """Tokenize documents in their order into `directory`, each ended by the end-of-document token.

    Plain text is learned whole, its end included: every token but the first, so `loss_tokens == tokens - 1`. With
    `answers`, a token is learned if a character of an answer is in it, and the end of document if an answer reaches the
    end of the text. A blank text is dropped as "empty", one of which nothing is learned as "no loss tokens". Memory
    holds one batch. Raises FactoryError (code "empty") if no document is left, "span" on a span outside its text.
    """
    counts = TokenCounts()
    directory.mkdir(parents=True, exist_ok=True)
    writer: IndexedWriter | None = None
    done = False
    try:
        with pq.ParquetWriter(directory / DOCS, SCHEMA, compression="zstd") as docs:
            rows: list[dict[str, Any]] = []
            for group in batched(enumerate(documents), batch):
                for document, ids, spans in _encoded(group, bpe, counts):
                    if writer is not None and writer.bytes >= shard_bytes:
                        writer.finish()
                        writer = None
                    if writer is None:
                        writer = IndexedWriter(directory / f"tokens-{counts.shards:05d}", bpe.vocabulary)
                        counts.shards += 1
                    rows.append(_row(document, counts.shards - 1, writer.add(ids), ids, spans))
                if len(rows) >= GROUP_ROWS:
                    docs.write_table(_counted(rows, counts))
                    rows = []
            docs.write_table(_counted(rows, counts))
            if writer is None:
                raise FactoryError(
                    f"{directory.name}: no document is left to train on",
                    found=f"0 documents; dropped: {dict(counts.dropped) or 'none'}",
                    expected="at least one document with tokens to learn",
                    fix="look at the stage's input, or change the shares of the split",
                    code="empty",
                )
        writer.finish()
        done = True
    finally:
        if writer is not None and not done:
            writer.abandon()
    return counts


def read_docs(directory: Path, columns: list[str] | None = None) -> pa.Table:
    """The documents of a part as a table of SCHEMA, or of some of its columns."""
    path = directory / DOCS
    if not path.is_file():
        raise FactoryError(f"{path}: no such file", fix="give a part of a stage of tokens", code="missing")
    return pq.read_table(path, columns=columns)


def _encoded(
    documents: Sequence[tuple[int, Document]], bpe: BPE, counts: TokenCounts
) -> Iterator[tuple[Document, list[int], list[Span]]]:
    kept = [(n, d) for n, d in documents if d.text and not d.text.isspace()]
    counts.dropped["empty"] += len(documents) - len(kept)
    plain = iter(bpe.encode_batch([d.text for _, d in kept if d.answers is None]))
    partly = iter(bpe.encode_offsets([d.text for _, d in kept if d.answers is not None]))
    for number, document in kept:
        if document.answers is None:
            ids = next(plain)
            spans = [(1, len(ids) + 1)]
        else:
            ids, offsets = next(partly)
            spans = _learned(document, number, offsets)
        if not spans:
            counts.dropped["no loss tokens"] += 1
            continue
        yield document, [*ids, bpe.eod], spans
    counts.dropped = +counts.dropped


def _learned(document: Document, number: int, offsets: list[Span]) -> list[Span]:
    answers = sorted(document.answers or ())
    size = len(document.text)
    for n, (start, end) in enumerate(answers):
        if not 0 <= start < end <= size or (n and start < answers[n - 1][1]):
            raise FactoryError(
                f"answer {n} of document number {number} is no span of its text",
                found=f"{start} to {end}",
                expected=f"spans that do not overlap within 0 to {size}",
                code="span",
            )
    learned = [any(start < b and end > a for a, b in answers) for start, end in offsets]
    learned.append(bool(answers) and answers[-1][1] == size)
    learned[0] = False
    edges = [n for n, (before, now) in enumerate(pairwise([False, *learned, False])) if before != now]
    return list(zip(edges[::2], edges[1::2], strict=True))


def _row(document: Document, shard: int, offset: int, ids: list[int], spans: list[Span]) -> dict[str, Any]:
    return {
        "doc": document.id,
        "group": document.group,
        "shard": shard,
        "offset": offset,
        "tokens": len(ids),
        "loss_tokens": sum(end - start for start, end in spans),
        "loss_spans": [edge for span in spans for edge in span],
        "sha256": text_digest(document.text),
    }


def _counted(rows: list[dict[str, Any]], counts: TokenCounts) -> pa.Table:
    counts.documents += len(rows)
    for row in rows:
        counts.tokens += row["tokens"]
        counts.loss_tokens += row["loss_tokens"]
        counts.lengths[1 << (row["tokens"] - 1).bit_length()] += 1
    return pa.Table.from_pylist(rows, SCHEMA)
