"""Exceptions that carry a value wherever an exception can."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import pydantic
import pytest

from aifactory.errors import FactoryError


class Row(pydantic.BaseModel):
    age: int


class Told(Exception):
    """Says its value however it is asked."""

    def __init__(self, value: str):
        super().__init__(value)
        self.value = value

    def __str__(self) -> str:
        return f"told {self.value}"

    __repr__ = __str__


class Coded(FactoryError):
    """A FactoryError of somebody else's, with a code that may be shown."""

    def __init__(self, value: str):
        super().__init__(value, found=value, expected=value, fix=value, code="nan")
        self.rows = {value: 1}
        self.where = value


def validation(value: str) -> BaseException:
    with pytest.raises(pydantic.ValidationError) as caught:
        Row.model_validate({"age": value, value: value})
    return caught.value


def made(value: str) -> BaseException:
    """A type that is called as the value, in a module that is called so."""
    name = value.replace("\0", "") or "x"
    kind = type(name, (ValueError,), {"__module__": name, "__doc__": value, "__qualname__": name})
    return kind(value)


def noted(value: str) -> BaseException:
    error = ValueError()
    error.add_note(value)
    return error


BARE: tuple[Callable[[str], BaseException], ...] = (
    ValueError,
    KeyError,
    SystemExit,
    KeyboardInterrupt,
    Told,
    Coded,
    StopIteration,
    validation,
    made,
    noted,
    lambda value: OSError(5, value, value),
    lambda value: FactoryError(value, code=value),
    lambda value: FactoryError("nothing", found=value, code="class"),
    lambda value: SyntaxError(value, (value, 1, 1, value)),
    lambda value: UnicodeDecodeError("utf-8", value.encode("utf-8", "surrogatepass"), 0, 1, value),
)
"""From a value to an exception that holds it."""


def chained(error: BaseException, below: BaseException, how: str) -> BaseException:
    """`error` over `below`: as its cause, as its context, or as one of a group."""
    if how == "group":
        return BaseExceptionGroup(str(error.args[:1]), [error, below])
    if how == "cause":
        error.__cause__ = below
    else:
        error.__context__ = below
    return error


def raised(error: BaseException, value: str, *, by_text: bool) -> BaseException:
    """The error with a trace: from a plain function, or from code made of text whose file is called as the value."""
    scope: dict[str, Any] = {"error": error, "value": value}
    source = "def deep(local):\n    raise error\ndeep(value)\n"
    try:
        if by_text:
            exec(compile(source, value.replace("\0", "") or "x", "exec"), scope)
        with contextlib.ExitStack():
            raise error
    except BaseException as found:
        return found
