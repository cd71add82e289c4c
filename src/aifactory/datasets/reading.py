"""A snapshot as what a function asks for: a table, batches, rows, a path, or the snapshot itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, get_type_hints

from aifactory.datasets.shapes import Shape, is_row
from aifactory.errors import FactoryError

if TYPE_CHECKING:
    from pathlib import Path

    import pyarrow as pa

    from aifactory.namespace import Snapshot


def read(snapshot: Snapshot, shape: Shape, part: str | None = None) -> Any:
    """The snapshot (or one part of it) in the given shape; streams are read as they are consumed.

    A path is the file of a snapshot that has only one, else the directory (of the part).
    """
    if shape.form == "snapshot":
        return snapshot
    if shape.form == "path" or (shape.form == "unknown" and snapshot.manifest.kind in ("files", "tokenizer")):
        return path_of(snapshot, part)
    paths = [path for path in snapshot.paths(part) if path.suffix == ".parquet"]
    if not paths:
        raise FactoryError(
            f"{snapshot.name} holds no rows",
            found=", ".join(path.name for path in snapshot.paths(part)[:5]),
            expected="Parquet files",
            fix="annotate the parameter as Path",
            code="no_rows",
        )
    from aifactory.data.shards import read_batches, read_table

    if shape.form == "batches":
        return read_batches(paths)
    if shape.form == "rows":
        return rows(read_batches(paths), shape.row or dict)
    return read_table(paths)


def path_of(snapshot: Snapshot, part: str | None = None) -> Path:
    """The one file of a snapshot of files, else the directory; of a part, its folder where it has one."""
    if snapshot.manifest.kind == "files" and len(snapshot.manifest.files) == 1:
        return snapshot.paths()[0]
    if part is not None and all(entry.path.startswith(f"{part}/") for entry in snapshot.files(part)):
        return snapshot.path / part
    return snapshot.path


def rows(batches: Iterator[pa.RecordBatch], row: type) -> Iterator[Any]:
    """Rows as objects of `row` (dict: as they are); one batch at a time is in memory."""
    build = maker(row)
    for batch in batches:
        for values in batch.to_pylist():
            yield build(values)


def maker(row: type) -> Callable[[dict[str, Any]], Any]:
    """What makes a `row` of a mapping by column; nested row types included."""
    if row is dict:
        return lambda values: values
    validate = getattr(row, "model_validate", None)
    if validate is not None:
        return validate  # type: ignore[no-any-return]
    nested = {name: maker(kind) for name, kind in get_type_hints(row).items() if is_row(kind)}

    def build(values: dict[str, Any]) -> Any:
        for name, make in nested.items():
            if values[name] is not None:
                values[name] = make(values[name])
        return row(**values)

    return build
