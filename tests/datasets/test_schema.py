"""Row types and Arrow schemas as columns."""

from __future__ import annotations

import datetime
import enum
from dataclasses import dataclass
from typing import Literal

import pyarrow as pa
import pytest
from pydantic import BaseModel

from aifactory.datasets.schema import columns_of, of
from aifactory.errors import FactoryError


class Colour(enum.StrEnum):
    RED = "red"


@dataclass
class Inner:
    name: str
    size: float | None


@dataclass
class Everything:
    text: str
    number: int
    fraction: float
    flag: bool
    data: bytes
    day: datetime.date
    moment: datetime.datetime
    hour: datetime.time
    maybe: str | None
    choice: Literal["a", "b"]
    colour: Colour
    words: list[str]
    gaps: list[int | None]
    nested: list[list[float]]
    table: dict[str, int]
    inner: Inner
    inners: list[Inner] | None


class Model(BaseModel):
    code: str
    note: str | None = None


@pytest.mark.parametrize("row", [Everything, Inner, Model])
def test_the_text_of_a_column_is_the_text_of_its_arrow_type(row: type) -> None:
    schema = of(row)
    assert schema.columns == columns_of(schema.arrow())


def test_columns_keep_their_order_and_nullability() -> None:
    assert [(c.name, c.type, c.nullable) for c in of(Model).columns] == [
        ("code", "string", False),
        ("note", "string", True),
    ]


def test_an_arrow_schema_stays_as_it_is() -> None:
    schema = pa.schema([pa.field("a", pa.int32(), nullable=False), pa.field("b", pa.large_string())])
    assert of(schema).arrow() is schema
    assert [(c.name, c.type, c.nullable) for c in of(schema).columns] == [
        ("a", "int32", False),
        ("b", "large_string", True),
    ]


def test_something_else_is_refused() -> None:
    with pytest.raises(FactoryError, match="neither a row type nor an Arrow schema") as caught:
        of({"a": "int"})
    assert caught.value.code == "schema"


def test_definitions_load_without_arrow_or_dagster() -> None:
    import subprocess
    import sys

    code = (
        "import sys, aifactory.datasets\n"
        "heavy = {'pyarrow', 'numpy', 'torch', 'ray', 'kubernetes', 'dagster', 'tokenizers'} & set(sys.modules)\n"
        "sys.exit(f'loaded {heavy}' if heavy else 0)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
