from __future__ import annotations

import enum
import subprocess
import sys
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from aifactory.data.shards import read_batches, read_rows, read_table, to_batches, write_shards
from aifactory.errors import FactoryError

SCHEMA = pa.schema([pa.field("id", pa.int64(), nullable=False), pa.field("text", pa.string())])


@dataclass
class Row:
    id: int
    text: str | None


class Model(BaseModel):
    id: int
    text: str | None


def table(n: int) -> pa.Table:
    return pa.table({"id": range(n), "text": [f"text {i}" for i in range(n)]}, SCHEMA)


@pytest.mark.parametrize(
    "content",
    [
        table(5),
        table(5).select(["text", "id"]),
        table(5).to_reader(),
        table(5).to_batches(max_chunksize=2),
        [table(2), table(5).slice(2)],
        [Row(i, f"text {i}") for i in range(5)],
        (Model(id=i, text=f"text {i}") for i in range(5)),
        [{"text": f"text {i}", "id": i} for i in range(5)],
    ],
    ids=["table", "reordered", "reader", "batches", "tables", "dataclasses", "models", "mappings"],
)
def test_whatever_a_function_gives_becomes_the_same_shard(content: object, tmp_path: Path) -> None:
    [shard] = write_shards(to_batches(content, SCHEMA, batch_rows=2), tmp_path, SCHEMA)
    assert shard.path.name == "rows-00000.parquet"
    assert (shard.rows, shard.bytes) == (5, shard.path.stat().st_size)
    assert read_table([shard.path]).equals(table(5))
    assert list(read_rows([shard.path], ["id"])) == [{"id": i} for i in range(5)]


@settings(max_examples=20, deadline=None)
@given(st.lists(st.integers(0, 30_000), max_size=5))
def test_the_files_depend_on_the_rows_and_not_on_the_batches(
    tmp_path_factory: pytest.TempPathFactory, cuts: list[int]
) -> None:
    whole, directory = table(40_000), tmp_path_factory.mktemp("x")
    edges = [0, *sorted(cuts), 40_000]
    pieces = [b for a, z in pairwise(edges) for b in whole.slice(a, z - a).to_batches()]
    [one] = write_shards(pieces, directory / "one", SCHEMA)
    [two] = write_shards(whole.to_batches(max_chunksize=999), directory / "two", SCHEMA)
    assert one.path.read_bytes() == two.path.read_bytes()
    assert pq.ParquetFile(one.path).num_row_groups == 3


def test_a_new_shard_begins_once_one_is_full(tmp_path: Path) -> None:
    written = write_shards(table(60_000).to_batches(), tmp_path, SCHEMA, shard_bytes=50_000)
    assert len(written) == 4
    assert [shard.path.name for shard in written] == [f"rows-{n:05d}.parquet" for n in range(4)]
    assert read_table([shard.path for shard in written]).equals(table(60_000))
    assert max(b.num_rows for b in read_batches([s.path for s in written], batch_rows=100)) == 100


@pytest.mark.parametrize("content", [[], iter(()), table(0)])
def test_no_rows_make_one_empty_shard_that_says_the_schema(content: object, tmp_path: Path) -> None:
    [shard] = write_shards(to_batches(content, SCHEMA), tmp_path, SCHEMA)
    assert shard.rows == 0
    assert read_table([shard.path]).schema.equals(SCHEMA)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ([{"id": 1}], r"does not have the columns(.|\n)*add \['text'\], remove \[\]"),
        ([{"id": 1, "text": "a", "more": 2}], r"remove \['more'\]"),
        ([{"id": 1, "text": 2}], "column 'text' holds a value that its type can't"),
        ([{"id": 2**70, "text": "a"}], "column 'id' holds a value"),
        ([{"id": None, "text": "a"}], "column 'id' holds nulls"),
        ([{"id": 1, "text": "a"}, object()], "no dataclass, pydantic model or mapping"),
        (pa.table({"id": ["secret"], "text": ["a"]}), "another schema"),
        (pa.table({"id": [1]}), "another schema"),
        (pa.table({"id": [1], "text": pa.nulls(1)}), "another schema"),
        ([pa.record_batch({"text": ["a"], "id": [1]})], "another schema"),
        ("text", "holds no rows"),
        (7, "holds no rows"),
    ],
)
def test_rows_of_another_schema_are_refused_by_column_and_without_values(
    content: object, message: str, tmp_path: Path
) -> None:
    with pytest.raises(FactoryError, match=message) as error:
        write_shards(to_batches(content, SCHEMA), tmp_path, SCHEMA)
    assert error.value.code == "schema"
    assert "secret" not in str(error.value)
    assert error.value.__cause__ is None


def test_values_of_private_rows_stay_out_of_errors_and_their_causes(tmp_path: Path) -> None:
    with pytest.raises(FactoryError) as error:
        list(to_batches([{"id": "Jane Doe", "text": ""}], SCHEMA))
    assert "Jane" not in str(error.value)
    assert error.value.__suppress_context__


class Kind(enum.StrEnum):
    NOTE = "note"


@dataclass
class Part:
    kind: Kind
    body: str


@dataclass
class Nested:
    parts: list[Part]


def test_nested_row_types_become_structs(tmp_path: Path) -> None:
    schema = pa.schema({"parts": pa.list_(pa.struct({"kind": pa.string(), "body": pa.string()}))})
    [shard] = write_shards(to_batches([Nested([Part(Kind.NOTE, "x")])], schema), tmp_path, schema)
    assert list(read_rows([shard.path])) == [{"parts": [{"kind": "note", "body": "x"}]}]
    assert read_table([shard.path]).schema.equals(schema)


WRITE = """
import resource, sys
from pathlib import Path
import pyarrow as pa
from aifactory.data.shards import write_shards
schema = pa.schema({"text": pa.string()})
batches = (pa.record_batch({"text": [f"{n:x}" * 250] * 1000}, schema) for n in range(16**3, 16**3 + int(sys.argv[2])))
write_shards(batches, Path(sys.argv[1]), schema, shard_bytes=1 << 20)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def test_memory_is_bounded_by_the_batch_and_not_by_the_rows(tmp_path: Path) -> None:
    peaks = []
    for n in (20, 120):
        command = [sys.executable, "-c", WRITE, str(tmp_path / str(n)), str(n)]
        peaks.append(int(subprocess.run(command, check=True, capture_output=True).stdout))
    assert peaks[1] < peaks[0] * 1.3, peaks
