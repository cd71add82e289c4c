"""Row types and Arrow schemas as columns: name, Arrow type, nullable."""

from __future__ import annotations

import dataclasses
import datetime
import enum
import sys
import types
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from aifactory.datasets import shapes
from aifactory.datasets.crossed import Crossed
from aifactory.errors import FactoryError
from aifactory.namespace import Column

if TYPE_CHECKING:
    import pyarrow as pa

    from aifactory.datasets.stage import Stage

_PLAIN: dict[object, str] = {
    str: "string",
    int: "int64",
    float: "double",
    bool: "bool",
    bytes: "binary",
    datetime.date: "date32[day]",
    datetime.datetime: "timestamp[us, tz=UTC]",
    datetime.time: "time64[us]",
}


@dataclass(frozen=True)
class RowSchema:
    """The columns of a table. `source` is what they were read from: a row type or an Arrow schema."""

    columns: tuple[Column, ...]
    source: Any

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)

    def arrow(self) -> pa.Schema:
        """The same as an Arrow schema."""
        import pyarrow as pa

        if isinstance(self.source, pa.Schema):
            return self.source
        return pa.schema([pa.field(name, _arrow(kind), nullable=null) for name, kind, null in _fields(self.source)])


def of_stage(stage: Stage) -> RowSchema | None:
    """What is known of a stage's columns when definitions load."""
    if stage.given_schema is not None:
        return of(stage.given_schema)
    if stage.function is not None:
        row = shapes.of_return(stage.function).row
        return None if row is None or row is dict else of(row)
    if stage.factory == "crossing":
        return of(Crossed)
    if stage.factory in ("split", "suite") and stage.edges and stage.edges[0].stage is not None:
        return stage.edges[0].stage.row_schema
    return None


def of(source: Any) -> RowSchema:
    """The columns of a row type (dataclass or pydantic model) or of an Arrow schema."""
    if shapes.is_row(source):
        return _of_row(source)
    if type(source).__module__.startswith("pyarrow") and hasattr(source, "names"):
        return RowSchema(columns_of(source), source)
    raise FactoryError(
        "`schema` is neither a row type nor an Arrow schema",
        found=type(source).__name__,
        expected="a dataclass, a pydantic model or a pyarrow.Schema",
        code="schema",
    )


@cache
def _of_row(row: type) -> RowSchema:
    columns = (Column(name=name, type=_text(kind), nullable=null) for name, kind, null in _fields(row))
    return RowSchema(tuple(columns), row)


def columns_of(schema: pa.Schema) -> tuple[Column, ...]:
    """The columns of an Arrow schema."""
    return tuple(Column(name=field.name, type=str(field.type), nullable=field.nullable) for field in schema)


def _fields(row: type) -> list[tuple[str, Any, bool]]:
    """(name, type without None, nullable) of every field, in order."""
    try:
        hints = get_type_hints(row, vars(sys.modules[row.__module__]), include_extras=True)
    except Exception as error:
        raise FactoryError(
            f"row type {row.__name__}: its annotations can't be read",
            found=f"{type(error).__name__}: {error}",
            fix="import the names that it uses at the top of the module",
            code="row_type",
        ) from None
    names = [field.name for field in dataclasses.fields(row)] if dataclasses.is_dataclass(row) else _model(row)
    found = []
    for name in names:
        kind, null = _optional(hints[name])
        try:
            _text(kind)
        except TypeError:
            raise FactoryError(
                f"row type {row.__name__}: column {name!r} has a type that Arrow has no counterpart for",
                found=getattr(kind, "__name__", str(kind)),
                expected="str, int, float, bool, bytes, date, datetime, Literal, an enum of strings, a list, "
                "a dict with str keys, or another row type",
                code="row_type",
            ) from None
        found.append((name, kind, null))
    return found


def _model(row: type) -> list[str]:
    return list(getattr(row, "model_fields"))  # noqa: B009 - pydantic models only, known by is_row


def _optional(kind: Any) -> tuple[Any, bool]:
    if get_origin(kind) is Annotated:
        return _optional(get_args(kind)[0])
    if get_origin(kind) in (Union, types.UnionType):
        inner = [item for item in get_args(kind) if item is not type(None)]
        if len(inner) == 1:
            return _optional(inner[0])[0], len(inner) < len(get_args(kind))
    return kind, False


def _text(kind: Any) -> str:
    """The Arrow type as text, as `str(pa.DataType)` gives it; TypeError for a type that has none."""
    kind, _ = _optional(kind)
    origin, arguments = get_origin(kind), get_args(kind)
    if kind in _PLAIN:
        return _PLAIN[kind]
    if origin is Literal and len({type(value) for value in arguments}) == 1:
        return _text(type(arguments[0]))
    if origin in (list, tuple) and arguments and (origin is list or arguments[1:] == (...,)):
        return f"list<item: {_child(arguments[0])}>"
    if origin is dict and arguments[0] is str:
        return f"map<string, {_text(arguments[1])}>"
    if shapes.is_row(kind):
        inner = ", ".join(f"{name}: {_text(item)}{'' if null else ' not null'}" for name, item, null in _fields(kind))
        return f"struct<{inner}>"
    if isinstance(kind, type) and issubclass(kind, enum.Enum) and issubclass(kind, str):
        return "string"
    raise TypeError(kind)


def _child(kind: Any) -> str:
    return _text(kind) + ("" if _optional(kind)[1] else " not null")


def _arrow(kind: Any) -> pa.DataType:
    import pyarrow as pa

    kind, _ = _optional(kind)
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Literal:
        return _arrow(type(arguments[0]))
    if origin in (list, tuple):
        return pa.list_(pa.field("item", _arrow(arguments[0]), nullable=_optional(arguments[0])[1]))
    if origin is dict:
        return pa.map_(pa.string(), _arrow(arguments[1]))
    if shapes.is_row(kind):
        return pa.struct([pa.field(name, _arrow(item), nullable=null) for name, item, null in _fields(kind)])
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return pa.string()
    text = _PLAIN[kind]
    special = {
        "date32[day]": pa.date32(),
        "timestamp[us, tz=UTC]": pa.timestamp("us", tz="UTC"),
        "time64[us]": pa.time64("us"),
    }
    return special.get(text) or pa.type_for_alias(text)
