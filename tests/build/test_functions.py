"""What functions may take and give, and what they are told when they give something else."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow.parquet as pq
import pytest

from aifactory.errors import FactoryError
from tests.build.lab import Lab, rows_stage

KEY = "public/words/clean"
TABLE = 'pa.table({"id": [0, 1, 2], "text": ["a", "b", "c"]})'


def built(lab: Lab, good: Callable, body: str, **more: str) -> list[dict[str, object]]:
    lab.write(rows_stage(body, **more))
    good("public/words/raw")
    good(KEY)
    return [row for path in lab.current(KEY).paths() for row in pq.read_table(path).to_pylist()]


@pytest.mark.parametrize(
    ("annotation", "body"),
    [
        ("pa.Table", f"return {TABLE}"),
        ("Iterator[pa.RecordBatch]", f"yield from {TABLE}.to_batches(max_chunksize=2)"),
        ("pa.RecordBatchReader", f"return {TABLE}.to_reader()"),
        ("Iterator[Row]", "yield from (Row(n, line) for n, line in enumerate('abc'))"),
        ("list[Row]", "return [Row(n, line) for n, line in enumerate('abc')]"),
        ("Iterator[dict]", "yield from ({'id': n, 'text': line} for n, line in enumerate('abc'))"),
        ("object", "return [Row(n, line) for n, line in enumerate('abc')]"),
        ("object", f"yield {TABLE}"),
    ],
)
def test_rows_in_any_shape_are_the_same_rows(lab: Lab, good: Callable, annotation: str, body: str) -> None:
    rows = built(lab, good, body, annotation=annotation)
    assert rows == [{"id": 0, "text": "a"}, {"id": 1, "text": "b"}, {"id": 2, "text": "c"}]


def test_a_pydantic_row_type(lab: Lab, good: Callable) -> None:
    more = "class Model(BaseModel):\n    id: int\n    text: str | None = None\n"
    files = rows_stage("yield Model(id=1)\nyield Model(id=2, text='b')", annotation="Iterator[Model]")
    files["assets/public/words.py"] = files["assets/public/words.py"].replace("raw = source", more + "raw = source")
    lab.write(files)
    good("public/words/raw")
    told = good(KEY).built
    assert told.columns[1] == {"name": "text", "type": "string", "nullable": True}


@pytest.mark.parametrize(
    ("annotation", "expression"),
    [
        ("pa.Table", "clean.num_rows"),
        ("Iterator[pa.RecordBatch]", "sum(batch.num_rows for batch in clean)"),
        ("Iterator[Row]", "sum(isinstance(row, Row) for row in clean)"),
        ("Iterator[dict]", "sum(row['text'] in 'abc' for row in clean)"),
        ("Path", "len(list(clean.glob('rows-*.parquet'))) + 2"),
        ("object", "clean.num_rows"),
    ],
)
def test_inputs_come_as_the_annotation_says(lab: Lab, good: Callable, annotation: str, expression: str) -> None:
    more = f"""
        @dataset
        def after(clean: {annotation}) -> Iterator[Row]:
            yield Row({expression}, "")
    """
    built(lab, good, f"return {TABLE}", annotation="pa.Table", more=more)
    good("public/words/after")
    assert pq.read_table(lab.current("public/words/after").paths()[0]).to_pylist() == [{"id": 3, "text": ""}]


def test_one_part_of_a_split_as_an_input(lab: Lab, good: Callable) -> None:
    more = """
        parts = split(clean, by="text", train=0.5, val=0.25, test=0.25)
        @dataset(inputs={"rows": parts.part("train")})
        def after(rows: Iterator[Row]) -> Iterator[Row]:
            yield from rows
    """
    files = rows_stage("yield from (Row(n, f't{n}') for n in range(200))", more=more)
    lab.write(files)
    for name in ("raw", "clean"):
        good(f"public/words/{name}")
    parts = good("public/words/parts").built.metadata["parts"]
    assert good("public/words/after").built.rows == parts["train"] < 200


def test_a_path_that_the_function_wrote_is_kept(lab: Lab, good: Callable) -> None:
    lab.write(
        rows_stage(
            """
            out = Path("out")
            (out / "deep").mkdir(parents=True)
            (out / "deep" / "a.txt").write_text(raw.read_text())
            (out / "b.txt").write_text("b")
            return out
            """,
            annotation="Path",
        )
    )
    good("public/words/raw")
    told = good(KEY)
    assert [entry.path for entry in lab.current(KEY).files()] == ["b.txt", "deep/a.txt"]
    assert lab.current(KEY).manifest.kind == "files"
    assert not list(told.job.attempt_directory.glob("work-*"))


@pytest.mark.parametrize(
    ("annotation", "body", "found"),
    [
        ("Iterator[Row]", "yield Row('one', 'text')", "column 'id'"),
        ("Iterator[Row]", "yield Row(1, None)", "column 'text' holds nulls"),
        ("Iterator[Row]", "yield {'id': 1}", "text"),
        ("Iterator[Row]", "yield {'id': 1, 'text': 'a', 'more': 1}", "more"),
        ("Iterator[dict]", "yield {'id': 1}\nyield {'id': 'two'}", "columns can't be told"),
        ("Path", "return 3", "int"),
        ("Path", "return Path('nowhere')", "nowhere"),
        ("object", "return 3", "int"),
        ("object", "return None", "NoneType"),
        ("object", "yield 3", "int"),
    ],
)
def test_a_wrong_result_is_named_and_publishes_nothing(
    lab, good: Callable, annotation: str, body: str, found: str
) -> None:
    lab.write(rows_stage(body, annotation=annotation))
    good("public/words/raw")
    error = lab.build(KEY).error
    assert isinstance(error, FactoryError)
    assert error.code == "schema"
    assert KEY in error.what
    assert found in str(error).replace("of which the columns", "columns")
    assert lab.published(KEY) == []
    assert not list(lab.ns.directory(KEY).glob("@staging-*"))


def test_a_wrong_type_names_both_types(lab: Lab, good: Callable) -> None:
    files = rows_stage('return pa.table({"id": ["1"], "text": ["a"]})', annotation="pa.Table")
    files["assets/public/words.py"] = files["assets/public/words.py"].replace("checks=[]", "schema=Row")
    lab.write(files)
    good("public/words/raw")
    error = lab.build(KEY).error
    assert error.code == "schema"
    assert (error.found, error.expected) == ({"id": "string"}, {"id": "int64"})


def test_text_that_a_tokenizer_should_learn_in_part(lab: Lab, good: Callable) -> None:
    from aifactory.data.tokens import read_docs

    more = """
        parts = split(clean, by="id", train=1.0, val=0.0, test=0.0)
        bpe = tokenizer(parts, vocabulary=260)
        ready = tokenize(parts, tokenizer=bpe, learn="answer", id="id")
    """
    files = rows_stage("yield from (Row(n, f'q{n}: yes', 'yes') for n in range(5))", more=more)
    files["assets/public/words.py"] = files["assets/public/words.py"].replace(
        "    text: str\n", "    text: str\n    answer: str\n"
    )
    lab.write(files)
    for name in ("raw", "clean", "parts", "bpe", "ready"):
        told = good(f"public/words/{name}")
    assert told.built.metadata["tokens"]["train"]["documents"] == 5
    docs = read_docs(lab.current("public/words/ready").path / "train").to_pylist()
    assert {doc["doc"] for doc in docs} == {"0", "1", "2", "3", "4"}
    assert all(0 < doc["loss_tokens"] < doc["tokens"] - 1 for doc in docs)


def test_memory_does_not_grow_with_the_rows(lab: Lab, good: Callable) -> None:
    body = """
        import resource
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        for n in range(60_000):
            yield Row(n, f"{n}" * 1000)
        grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) >> 10
        if grown > 250:
            raise MemoryError(f"{grown} MiB for 300 MB of rows")
    """
    lab.write(rows_stage(body))
    good("public/words/raw")
    process, _ = lab.process(KEY)
    assert process.communicate(timeout=120)[1] == ""
    assert process.returncode == 0
    assert lab.current(KEY).manifest.rows == 60_000
