"""One line of the doctor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from aifactory.errors import FactoryError

State = Literal["ok", "note", "warning", "broken"]


@dataclass(frozen=True)
class Line:
    """`name` is what was looked at. A `note` tells a figure, or what could not be looked at; a `warning` will hurt
    some day; what is `broken` fails runs, and `fix` mends it."""

    name: str
    state: State
    text: str
    fix: str = ""


def broken(name: str, error: FactoryError) -> Line:
    """The line of an error."""
    found = f" ({error.found})" if error.found is not None else ""
    return Line(name, "broken", error.what + found, error.fix)


def unseen(name: str, error: FactoryError, what: str) -> Line:
    """A note that our account may not look at it; any other error is broken."""
    if error.code == "forbidden":
        return Line(name, "note", f"{what} can't be looked at: our account may not")
    return broken(name, error)
