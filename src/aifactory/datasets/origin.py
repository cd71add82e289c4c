"""Which module is making a stage: the one whose top-level code runs, also through a helper's function."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

HERE = __name__.rpartition(".")[0]


@dataclass(frozen=True, eq=False, slots=True)
class Origin:
    """Where a stage is made: module, file, line, and the module's global names."""

    module: str
    file: str
    line: int
    scope: dict[str, Any]


def origin() -> Origin:
    """The module whose code called into this package, at the line where it did."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(HERE):
        frame = frame.f_back
    first = frame
    while frame.f_code.co_name != "<module>" and frame.f_back is not None:
        frame = frame.f_back
    if frame.f_code.co_name != "<module>" or not str(frame.f_globals.get("__name__", "")).startswith("assets."):
        frame = first
    scope = frame.f_globals
    return Origin(str(scope.get("__name__", "")), str(scope.get("__file__", "")), frame.f_lineno, scope)
