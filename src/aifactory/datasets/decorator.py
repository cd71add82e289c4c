"""`@dataset`: a function becomes a stage."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, overload

from aifactory.datasets import shapes
from aifactory.datasets.checks.check import Check
from aifactory.datasets.origin import origin
from aifactory.datasets.stage import Input, Stage
from aifactory.errors import FactoryError


@overload
def dataset(function: Callable[..., Any], /) -> Stage: ...
@overload
def dataset(
    *,
    inputs: Mapping[str, Input] | None = None,
    checks: Sequence[Check] = (),
    benchmark: bool = False,
    owners: Sequence[str] = (),
    schema: object = None,
    code_version: str | None = None,
    automation: bool = True,
) -> Callable[[Callable[..., Any]], Stage]: ...
def dataset(
    function: Callable[..., Any] | None = None,
    /,
    *,
    inputs: Mapping[str, Input] | None = None,
    checks: Sequence[Check] = (),
    benchmark: bool = False,
    owners: Sequence[str] = (),
    schema: object = None,
    code_version: str | None = None,
    automation: bool = True,
) -> Stage | Callable[[Callable[..., Any]], Stage]:
    """Make a stage of a function that takes and gives Arrow tables, record-batch streams, rows or a path.

    `inputs` names stages of other files by parameter (a stage, one part of it, or a key); every other parameter is
    the name of a stage of the same module. `schema` is a row type or an Arrow schema, where the return annotation
    does not name a row type. `code_version` replaces the digest of the code; `benchmark` marks rows that may never be
    trained on; `automation=False` leaves building to people.
    """

    def make(function: Callable[..., Any]) -> Stage:
        where = origin()
        what = f"{where.module}.{getattr(function, '__name__', '?')}"
        for item in checks:
            if not isinstance(item, Check):
                raise FactoryError(
                    f"{what}: `checks` holds something that is no check",
                    found=repr(item)[:80],
                    fix="call the check with its parameters, for example unique('id')",
                    code="checks",
                )
        if inspect.iscoroutinefunction(function) or not callable(function):
            raise FactoryError(f"{what}: a stage is made of a plain function or a generator", code="function")
        accepted = shapes.signature(function, what)
        unused = sorted(set(inputs or {}) - set(accepted.parameters))
        if unused:
            raise FactoryError(
                f"{what}: `inputs` names {unused}, which the function does not take",
                found=unused,
                expected=list(accepted.parameters),
                fix="use the parameter's name as the key in `inputs`",
                code="unknown_input",
            )
        return Stage(
            factory="dataset",
            origin=where,
            function=function,
            inputs=inputs,
            checks=tuple(checks),
            benchmark=benchmark,
            owners=tuple(owners),
            description=inspect.cleandoc(function.__doc__ or ""),
            schema=schema,
            code_version=code_version,
            automation=automation,
        )

    return make if function is None else make(function)
