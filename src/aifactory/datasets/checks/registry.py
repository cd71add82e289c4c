"""From the kind of a check to its code: a name of the kit, or `module:function` of this lab's `checks/`."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from aifactory.datasets.checks.check import CheckResult
from aifactory.errors import FactoryError

KIT_VERSION = "1"
"""Set by hand, raised when a check of the kit starts to give other results."""

KIT = {
    "patterns": "crossing:run_patterns",
    "recognition": "crossing:run_recognition",
    "survivors": "crossing:run_survivors",
    "disjoint": "uniqueness:run_disjoint",
    "files": "integrity:run_files",
    "no_nulls": "columns:run_no_nulls",
    "not_empty": "counts:run_not_empty",
    "rows": "counts:run_rows",
    "schema": "columns:run_schema",
    "token_range": "tokens:run_token_range",
    "unique": "uniqueness:run_unique",
}


def function_of(kind: str) -> Callable[..., CheckResult]:
    """The function behind `kind`: takes the snapshot and the check's parameters. FactoryError for an unknown one."""
    if kind in KIT:
        module, _, name = KIT[kind].partition(":")
        found: Callable[..., CheckResult] = getattr(import_module(f"aifactory.datasets.checks.{module}"), name)
        return found
    module, _, name = kind.partition(":")
    if not name:
        raise FactoryError(
            f"no check of kind {kind!r}", expected=", ".join([*KIT, "module:function"]), code="unknown_check"
        )
    maker = getattr(import_module(module), name, None)
    run: Callable[..., CheckResult] | None = getattr(maker, "run", None)
    if run is None:
        raise FactoryError(
            f"{kind} is not a function under @check", fix="decorate it with @check", code="unknown_check"
        )
    return run


def version_of(kind: str) -> str:
    """Which code checks: the kit's version, or the digest of this lab's function and what it uses."""
    if kind in KIT:
        return KIT_VERSION
    from aifactory.datasets.code import function_digest

    run = function_of(kind)
    maker = getattr(run, "__self__", None)
    return function_digest(getattr(maker, "function", run))[:16]
