"""What people are shown of a snapshot: numbers of any data, values of public data only."""

from __future__ import annotations

from collections import Counter
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from aifactory.data.shards import read_batches
from aifactory.namespace import Key, Snapshot

ROWS = 5
CHARACTERS = 120
NAMES = 20


def describe(snapshot: Snapshot) -> dict[str, Any]:
    """`parts`: rows by part. Of public data also `preview` (first rows, cut), `lengths` (a histogram of the column
    text, or of the tokens of documents), and `file_names` of raw files."""
    manifest = snapshot.manifest
    found: dict[str, Any] = {}
    if manifest.parts:
        found["parts"] = {part: sum(entry.rows or 0 for entry in snapshot.files(part)) for part in manifest.parts}
    if Key(snapshot.key).access != "public":
        return found
    if manifest.kind == "files":
        found["file_names"] = {entry.path: entry.bytes for entry in manifest.files[:NAMES]}
    tables = [path for path in snapshot.paths() if path.suffix == ".parquet"]
    if tables and manifest.columns:
        found["preview"] = preview(tables)
        found["lengths"] = lengths(tables, manifest.kind == "tokens")
    return {name: value for name, value in found.items() if value}


def preview(tables: list[Path]) -> list[dict[str, Any]]:
    """The first rows, with long values cut."""
    rows = (row for batch in read_batches(tables, batch_rows=ROWS) for row in batch.to_pylist())
    return [{name: _cut(value) for name, value in row.items()} for row in islice(rows, ROWS)]


def lengths(tables: list[Path], tokens: bool) -> dict[str, Any] | None:
    """Rows by length, in powers of two: {"unit": ..., "buckets": {"<= 64": rows, ...}}; None without a text column."""
    import pyarrow.parquet as pq

    schema = pq.read_schema(tables[0])
    texts = [field.name for field in schema if pa.types.is_string(field.type)]
    if not tokens and not texts:
        return None
    column = "tokens" if tokens else "text" if "text" in texts else texts[0]
    found: Counter[int] = Counter()
    for batch in read_batches(tables, [column], batch_rows=16_384):
        values = batch.column(0) if tokens else pc.utf8_length(batch.column(0))
        numbers = np.asarray(pc.fill_null(values, 0).to_numpy(zero_copy_only=False), dtype=np.int64)
        powers, counts = np.unique(np.ceil(np.log2(np.maximum(numbers, 1))).astype(int), return_counts=True)
        found.update(dict(zip(powers.tolist(), counts.tolist(), strict=True)))
    unit = "tokens" if tokens else f"characters of {column}"
    return {"unit": unit, "buckets": {f"<= {1 << power}": found[power] for power in sorted(found)}}


def _cut(value: Any) -> Any:
    if isinstance(value, bytes):
        return f"{len(value)} bytes"
    if value is None or isinstance(value, bool | int | float):
        return value
    text = value if isinstance(value, str) else str(value)
    return text if len(text) <= CHARACTERS else text[: CHARACTERS - 1] + "…"
