"""Builder of `@dataset` stages: calls the function on its inputs and keeps the rows or the files that it gives."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Any

import pyarrow as pa

from aifactory.build.inputs import Work
from aifactory.build.made import Made
from aifactory.build.progress import counted, watched
from aifactory.channel.redact import GIVEN
from aifactory.data.shards import RowError, to_batches, write_shards
from aifactory.datasets import shapes
from aifactory.datasets.reading import read
from aifactory.datasets.schema import columns_of, of
from aifactory.errors import FactoryError

SAMPLE = 1024
"""Rows that are looked at for the columns, where nothing declares them."""


def build(work: Work, staging: Path) -> Made:
    """Run the function in a folder of its own, which is removed afterwards."""
    function = work.stage.function
    assert function is not None
    arguments = {role: _argument(work, role) for role in work.inputs}
    with (
        tempfile.TemporaryDirectory(prefix="work-", dir=work.job.attempt_directory) as folder,
        contextlib.chdir(folder),
    ):
        content = function(**arguments)
        if isinstance(content, Path):
            return _files(work, Path(folder, content), staging)
        if work.build.kind == "files":
            raise _wrong(work, "returned something else than the path that it declares", type(content).__name__, "Path")
        return _rows(work, content, staging)


def _argument(work: Work, role: str) -> Any:
    opened, function = work.inputs[role], work.stage.function
    assert function is not None
    given = read(opened.snapshot, shapes.of_parameter(function, role), opened.part)
    return watched(given, work.job.rows, role) if isinstance(given, Iterator) else given


def _rows(work: Work, content: Any, staging: Path) -> Made:
    declared = work.stage.row_schema
    if isinstance(content, Iterator):
        content = watched(content, work.job.rows, GIVEN)
    try:
        schema, content = (declared.arrow(), content) if declared else _inferred(work, content)
        batches = counted(work.job, to_batches(content, schema), f"building {work.build.key}")
        made = Made(columns=columns_of(schema))
        made.add(staging, write_shards(batches, staging, schema))
    except FactoryError as error:
        if error.code != "schema":
            raise
        if isinstance(error, RowError):
            # The rows that were read last are not the ones that it is made of.
            work.job.rows.clear()
            work.job.rows[GIVEN] = error.row
        raise FactoryError(
            f"{work.build.key}: {error.what}", found=error.found, expected=error.expected, fix=error.fix, code="schema"
        ) from None
    return made


def _inferred(work: Work, content: Any) -> tuple[pa.Schema, Any]:
    """The columns of what the function gave, and the same content again."""
    if isinstance(content, pa.Table | pa.RecordBatch | pa.RecordBatchReader):
        return content.schema, content
    if not isinstance(content, Iterable) or isinstance(content, str | bytes | dict):
        raise _wrong(
            work,
            "gave something that holds no rows",
            type(content).__name__,
            "a table, record batches, rows, or a path",
        )
    stream: Iterator[Any] = iter(content)
    first = list(islice(stream, 1))
    if not first:
        return pa.schema([]), pa.table({})
    if isinstance(first[0], pa.Table | pa.RecordBatch):
        return first[0].schema, chain(first, stream)
    if shapes.is_row(type(first[0])):
        return of(type(first[0])).arrow(), chain(first, stream)
    first += islice(stream, SAMPLE - 1)
    try:
        return pa.RecordBatch.from_pylist(first).schema, chain(first, stream)
    except (pa.ArrowException, TypeError, AttributeError):
        kinds = ", ".join(sorted({type(row).__name__ for row in first}))
        raise _wrong(work, "gave rows without a type, of which the columns can't be told", kinds, "rows") from None


def _files(work: Work, path: Path, staging: Path) -> Made:
    if not path.exists():
        raise _wrong(work, "returned a path where nothing is", path.name, "a file or a folder that it wrote")
    if path.is_dir():
        shutil.copytree(path, staging, symlinks=True, dirs_exist_ok=True)
    else:
        shutil.copy2(path, staging / path.name, follow_symlinks=False)
    return Made()


def _wrong(work: Work, what: str, found: object, expected: object) -> FactoryError:
    return FactoryError(
        f"{work.build.key}: the function {what}",
        found=found,
        expected=expected,
        fix=f"mend {work.build.function}, or its return annotation",
        code="schema",
    )
