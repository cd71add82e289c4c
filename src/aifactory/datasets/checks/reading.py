"""Reading the rows of a snapshot batch by batch, for checks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from aifactory.errors import FactoryError

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

    from aifactory.namespace import Snapshot

BATCH = 16_384


def tables(snapshot: Snapshot, part: str | None = None) -> list[Any]:
    """The Parquet files that hold the rows (of tokens: the documents)."""
    return [path for path in snapshot.paths(part) if path.suffix == ".parquet"]


def rows_of(snapshot: Snapshot, part: str | None = None) -> int:
    """Rows by the files' own footers, not by the manifest."""
    import pyarrow.parquet as pq

    return sum(pq.read_metadata(path).num_rows for path in tables(snapshot, part))


def batches(
    snapshot: Snapshot, columns: Sequence[str] | None = None, part: str | None = None
) -> Iterator[pa.RecordBatch]:
    """All rows in order; FactoryError (code "unknown_column") where a column is missing."""
    import pyarrow.parquet as pq

    for path in tables(snapshot, part):
        with pq.ParquetFile(path) as file:
            missing = sorted(set(columns or ()) - set(file.schema_arrow.names))
            if missing:
                raise unknown_columns(missing, file.schema_arrow.names, str(snapshot.key))
            yield from file.iter_batches(BATCH, columns=None if columns is None else list(columns))


def unknown_columns(missing: Sequence[str], known: Sequence[str], where: str) -> FactoryError:
    """Something reads columns that the rows don't have."""
    from difflib import get_close_matches

    close = [match for name in missing for match in get_close_matches(name, known, n=2, cutoff=0.5)]
    return FactoryError(
        f"{where}: unknown column {', '.join(missing)}",
        found=", ".join(missing),
        expected=", ".join(close or known),
        fix="name a column that the rows have",
        code="unknown_column",
    )


def hashes(snapshot: Snapshot, columns: Sequence[str], part: str | None = None) -> np.ndarray[Any, Any]:
    """One 16-byte hash per row of the values of `columns`, as an array of shape (rows, 2) of uint64."""
    import numpy as np

    digests = bytearray()
    for batch in batches(snapshot, columns, part):
        for values in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            digests += blake2b(repr(values).encode(), digest_size=16).digest()
    return np.frombuffer(bytes(digests), dtype=np.uint64).reshape(-1, 2)


def distinct(pairs: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The distinct rows of an array of shape (n, 2), sorted."""
    import numpy as np

    if not len(pairs):
        return pairs
    ordered = pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]
    keep = np.concatenate(([True], np.any(ordered[1:] != ordered[:-1], axis=1)))
    return np.asarray(ordered[keep])
