"""Parquet shards of one fixed schema: written from tables, record batches or rows, in memory bounded by a batch."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import batched
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from aifactory.errors import FactoryError

SHARD_BYTES = 128 << 20
GROUP_ROWS = 16_384
GROUP_BYTES = 32 << 20


@dataclass(frozen=True)
class Shard:
    """One written file: its path, rows, and bytes on disk."""

    path: Path
    rows: int
    bytes: int


class RowError(FactoryError):
    """A row that does not fit; `row` is its number in what was given, from 1."""

    row = 0


class ShardWriter:
    """Writes `<prefix>-00000.parquet`, ... into a directory; a new shard begins once one has `shard_bytes` on disk.

    Row groups have GROUP_ROWS rows however the rows arrive, so that the files depend on the rows and not on the
    batches (rows of many kilobytes apart: a group is also closed at GROUP_BYTES in memory). Without rows there is one
    empty shard, which still says the schema. After an error, the files that are there are not complete.
    """

    def __init__(
        self, directory: Path, schema: pa.Schema, *, prefix: str = "rows", shard_bytes: int = SHARD_BYTES
    ) -> None:
        self.directory, self.schema, self.prefix, self.shard_bytes = directory, schema, prefix, shard_bytes
        self.shards: list[Shard] = []
        self.rows = 0
        self._pending: list[pa.RecordBatch] = []
        self._pending_rows = self._pending_bytes = self._shard_rows = 0
        self._file: Any = None
        self._parquet: pq.ParquetWriter | None = None
        directory.mkdir(parents=True, exist_ok=True)

    def write(self, batch: pa.RecordBatch) -> None:
        """Take one batch of exactly this schema; raises FactoryError (code "schema") on another, or on a null in a
        column that allows none."""
        batch = conform(batch, self.schema)
        for start in range(0, batch.num_rows, GROUP_ROWS):
            piece = batch.slice(start, GROUP_ROWS)
            room = GROUP_ROWS - self._pending_rows
            self._take(piece.slice(0, room))
            if piece.num_rows > room:
                self._take(piece.slice(room))

    def finish(self) -> list[Shard]:
        """Write what is pending; returns all shards."""
        if self._pending_rows or (not self.shards and self._parquet is None):
            self._flush()
        self._close()
        return self.shards

    def _take(self, piece: pa.RecordBatch) -> None:
        if not piece.num_rows:
            return
        self._pending.append(piece)
        self._pending_rows += piece.num_rows
        self._pending_bytes += piece.nbytes
        if self._pending_rows >= GROUP_ROWS or self._pending_bytes >= GROUP_BYTES:
            self._flush()

    def _flush(self) -> None:
        if self._parquet is None:
            path = self.directory / f"{self.prefix}-{len(self.shards):05d}.parquet"
            self._file = path.open("wb")
            # Else the name of a list's items changes on the way, and with it the type that is read back.
            self._parquet = pq.ParquetWriter(
                self._file, self.schema, compression="zstd", use_compliant_nested_type=False
            )
        table = pa.Table.from_batches(self._pending, self.schema).combine_chunks()
        self._parquet.write_table(table, row_group_size=max(1, table.num_rows))
        self._shard_rows += table.num_rows
        self.rows += table.num_rows
        self._pending, self._pending_rows, self._pending_bytes = [], 0, 0
        if self._file.tell() >= self.shard_bytes:
            self._close()

    def _close(self) -> None:
        if self._parquet is None:
            return
        self._parquet.close()
        path = Path(self._file.name)
        self._file.close()
        self.shards.append(Shard(path, self._shard_rows, path.stat().st_size))
        self._parquet, self._shard_rows = None, 0


def write_shards(
    batches: Iterable[pa.RecordBatch],
    directory: Path,
    schema: pa.Schema,
    *,
    prefix: str = "rows",
    shard_bytes: int = SHARD_BYTES,
) -> list[Shard]:
    """Write a stream of batches with a `ShardWriter`."""
    writer = ShardWriter(directory, schema, prefix=prefix, shard_bytes=shard_bytes)
    for batch in batches:
        writer.write(batch)
    return writer.finish()


def to_batches(content: object, schema: pa.Schema, *, batch_rows: int = 4096) -> Iterator[pa.RecordBatch]:
    """Batches of what a stage's function gave: a table, a batch reader, or an iterable of batches, tables, or rows
    (dataclasses, pydantic models or mappings with exactly the schema's columns)."""
    if isinstance(content, pa.RecordBatch):
        yield content
    elif isinstance(content, pa.Table):
        yield from _aligned(content, schema).to_batches(max_chunksize=batch_rows)
    elif isinstance(content, Iterable) and not isinstance(content, str | bytes | Mapping):
        yield from _stream(iter(content), schema, batch_rows)
    else:
        raise FactoryError(
            "a stage's function gave something that holds no rows",
            found=type(content).__name__,
            expected="a table, record batches, or an iterable of rows",
            fix="return or yield one of these",
            code="schema",
        )


def rows_to_batch(rows: Sequence[object], schema: pa.Schema, *, before: int = 0) -> pa.RecordBatch:
    """One batch of rows, which `before` others came before. Raises RowError (code "schema") on a missing or an extra
    field, or a value of a wrong type; values are never named, since they may be private."""
    try:
        return _batch(rows, schema)
    except FactoryError as error:
        if len(rows) != 1:
            # Which one it is can only be told by trying each.
            for n, row in enumerate(rows):
                rows_to_batch([row], schema, before=before + n)
            raise
        what = f"{error.what} (row {before + 1})"
        found = RowError(what, found=error.found, expected=error.expected, fix=error.fix, code=error.code)
        found.row = before + 1
        raise found from None


def _batch(rows: Sequence[object], schema: pa.Schema) -> pa.RecordBatch:
    names = schema.names
    records = [_mapping(row) for row in rows]
    for record in records:
        if record.keys() != set(names):
            raise FactoryError(
                "a row does not have the columns of the schema",
                found=sorted(record),
                expected=sorted(names),
                fix=f"add {sorted(set(names) - record.keys())}, remove {sorted(record.keys() - set(names))}",
                code="schema",
            )
    columns = [_column([record[field.name] for record in records], field) for field in schema]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def conform(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """The batch, if its names and types are the schema's, in order, and no column that forbids nulls holds one."""
    found = {field.name: str(field.type) for field in batch.schema}
    expected = {field.name: str(field.type) for field in schema}
    if list(found.items()) != list(expected.items()) or len(batch.schema) != len(found):
        differing = {n for n in found.keys() | expected.keys() if found.get(n) != expected.get(n)}
        raise FactoryError(
            "the rows have another schema",
            found={n: found.get(n, "missing") for n in sorted(differing)} or batch.schema.names,
            expected={n: expected.get(n, "no such column") for n in sorted(differing)} or schema.names,
            fix="give the columns of the row type, in its order, with its types",
            code="schema",
        )
    for field, column in zip(schema, batch.columns, strict=True):
        if not field.nullable and column.null_count:
            raise FactoryError(
                f"column {field.name!r} holds nulls",
                found=f"{column.null_count} of {len(column)} rows of a batch",
                expected="none",
                fix="drop these rows and count them, or allow None in the row type",
                code="schema",
            )
    return pa.RecordBatch.from_arrays(batch.columns, schema=schema)


def read_batches(
    paths: Sequence[Path], columns: list[str] | None = None, *, batch_rows: int = 4096
) -> Iterator[pa.RecordBatch]:
    """The rows of these shards, in order, a batch at a time."""
    for path in paths:
        with pq.ParquetFile(path) as file:
            yield from file.iter_batches(batch_rows, columns=columns)


def read_rows(paths: Sequence[Path], columns: list[str] | None = None) -> Iterator[dict[str, Any]]:
    """The rows of these shards, in order, as dictionaries."""
    for batch in read_batches(paths, columns):
        yield from batch.to_pylist()


def read_table(paths: Sequence[Path], columns: list[str] | None = None) -> pa.Table:
    """All rows of these shards in memory."""
    return pa.concat_tables([pq.ParquetFile(path).read(columns) for path in paths])


def _stream(content: Iterator[object], schema: pa.Schema, batch_rows: int) -> Iterator[pa.RecordBatch]:
    for group in batched(content, 1):
        first = group[0]
        if not isinstance(first, pa.RecordBatch | pa.Table):
            yield from _rows(first, content, schema, batch_rows)
            return
        yield from to_batches(first, schema, batch_rows=batch_rows)


def _rows(first: object, rest: Iterator[object], schema: pa.Schema, batch_rows: int) -> Iterator[pa.RecordBatch]:
    head, before = [first], 0
    for row in rest:
        head.append(row)
        if len(head) >= batch_rows:
            yield rows_to_batch(head, schema, before=before)
            head, before = [], before + len(head)
    if head:
        yield rows_to_batch(head, schema, before=before)


def _aligned(table: pa.Table, schema: pa.Schema) -> pa.Table:
    # A table's columns may stand in any order; a stream's must not change theirs from batch to batch.
    return table.select(schema.names) if sorted(table.column_names) == sorted(schema.names) else table


def _mapping(row: object) -> Mapping[str, Any]:
    if isinstance(row, Mapping):
        return row
    if dataclasses.is_dataclass(row) and not isinstance(row, type):
        return {field.name: getattr(row, field.name) for field in dataclasses.fields(row)}
    dump = getattr(row, "model_dump", None)
    if callable(dump):
        return dict(dump())
    raise FactoryError(
        "a row is no dataclass, pydantic model or mapping", found=type(row).__name__, expected="a row", code="schema"
    )


def _column(values: list[Any], field: pa.Field) -> pa.Array:
    if pa.types.is_nested(field.type):
        values = [_plain(value) for value in values]
    try:
        return pa.array(values, field.type)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        kinds = sorted({type(value).__name__ for value in values})
        raise FactoryError(
            f"column {field.name!r} holds a value that its type can't",
            found=f"values of type {', '.join(kinds)}",
            expected=str(field.type),
            fix="convert the value, or change the row type",
            code="schema",
        ) from None


def _plain(value: Any) -> Any:
    """Row types inside of a value as dictionaries."""
    if dataclasses.is_dataclass(value) or hasattr(value, "model_dump"):
        return {name: _plain(inner) for name, inner in _mapping(value).items()}
    if isinstance(value, Mapping):
        return {name: _plain(inner) for name, inner in value.items()}
    return [_plain(inner) for inner in value] if isinstance(value, list | tuple) else value
