"""What a stage's function takes and gives, read from its annotations without importing Arrow."""

from __future__ import annotations

import collections.abc
import dataclasses
import inspect
import sys
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, get_args, get_origin

from aifactory.errors import FactoryError

Form = Literal["table", "batches", "rows", "path", "snapshot", "unknown"]

_STREAMS = (
    collections.abc.Iterator,
    collections.abc.Iterable,
    collections.abc.Generator,
    collections.abc.Sequence,
    list,
)


@dataclass(frozen=True)
class Shape:
    """How data crosses a function's border: `table`, `batches`, `rows` (of type `row`), `path` or `snapshot`.

    `unknown` means not annotated. `row` is a dataclass, a pydantic model, or `dict` for rows without a type.
    """

    form: Form
    row: type | None = None


@dataclass(frozen=True)
class Signature:
    """The parameters of a function in their order, those that have a default, and what it returns."""

    parameters: tuple[str, ...]
    optional: frozenset[str]


def signature(function: Callable[..., Any], what: str) -> Signature:
    """The parameters that stages can be bound to. `*args` and `**kwargs` name no stage, so they are refused."""
    code = getattr(function, "__code__", None)
    if isinstance(code, types.CodeType) and not hasattr(function, "__wrapped__"):
        if code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS):
            raise _variadic(what)
        positional = code.co_varnames[: code.co_argcount]
        defaults = len(function.__defaults__ or ())
        optional = set(positional[len(positional) - defaults :] if defaults else ())
        optional.update(function.__kwdefaults__ or {})
        return Signature(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount], frozenset(optional))
    found = inspect.signature(function).parameters.values()
    if any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in found):
        raise _variadic(what)
    return Signature(
        tuple(p.name for p in found), frozenset(p.name for p in found if p.default is not inspect.Parameter.empty)
    )


def _variadic(what: str) -> FactoryError:
    return FactoryError(
        f"{what}: the function takes *args or **kwargs",
        expected="one named parameter per input stage",
        fix="name every parameter after a stage of the module, or list it in `inputs`",
        code="parameters",
    )


def of_parameter(function: Callable[..., Any], name: str) -> Shape:
    """The shape of one parameter."""
    return shape(_resolve(function, name))


def of_return(function: Callable[..., Any]) -> Shape:
    """The shape of what the function returns or yields."""
    return shape(_resolve(function, "return"))


def returns_path(function: Callable[..., Any]) -> bool:
    """Whether the function returns a path, told without resolving anything but a name."""
    raw = getattr(function, "__annotations__", {}).get("return")
    if isinstance(raw, str):
        return raw in ("Path", "pathlib.Path", "PurePath")
    return isinstance(raw, type) and raw.__module__.startswith("pathlib")


def shape(annotation: object) -> Shape:
    """The shape that an annotation stands for."""
    if annotation is None or annotation is inspect.Parameter.empty:
        return Shape("unknown")
    if isinstance(annotation, type) and get_origin(annotation) is None:
        if annotation.__module__.startswith("pathlib"):
            return Shape("path")
        if annotation.__module__.startswith("pyarrow"):
            return Shape("table" if annotation.__name__ == "Table" else "batches")
        if annotation.__name__ == "Snapshot":
            return Shape("snapshot")
        return Shape("unknown")
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin in _STREAMS and arguments:
        item = arguments[0]
        if isinstance(item, type) and item.__module__.startswith("pyarrow"):
            return Shape("batches")
        if get_origin(item) is dict or item is dict:
            return Shape("rows", dict)
        if is_row(item):
            return Shape("rows", item)
    return Shape("unknown")


def is_row(kind: object) -> bool:
    """Whether `kind` is a row type: a dataclass or a pydantic model."""
    return isinstance(kind, type) and (dataclasses.is_dataclass(kind) or hasattr(kind, "model_fields"))


def _resolve(function: Callable[..., Any], name: str) -> object:
    function = inspect.unwrap(function)
    raw = getattr(function, "__annotations__", {}).get(name)
    if not isinstance(raw, str):
        return raw
    module = sys.modules.get(function.__module__)
    scope = {**(vars(module) if module else {}), **_closure(function)}
    try:
        return eval(raw, scope)
    except Exception as error:
        raise FactoryError(
            f"{function.__module__}:{function.__qualname__}: the annotation of {name!r} can't be read",
            found=f"{raw} ({type(error).__name__}: {error})",
            fix="import the names that it uses at the top of the module (not under TYPE_CHECKING)",
            code="annotation",
        ) from None


def _closure(function: Callable[..., Any]) -> dict[str, Any]:
    code, cells = getattr(function, "__code__", None), getattr(function, "__closure__", None)
    if code is None or not cells:
        return {}
    return {name: cell.cell_contents for name, cell in zip(code.co_freevars, cells, strict=True)}
