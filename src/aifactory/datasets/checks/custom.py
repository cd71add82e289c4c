"""`@check`: this lab's own checks, small functions in `checks/`."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Concatenate, overload

from aifactory.datasets import shapes
from aifactory.datasets.checks.check import Check, CheckResult
from aifactory.errors import FactoryError

if TYPE_CHECKING:
    from aifactory.namespace import Snapshot


class CheckMaker[**P]:
    """A decorated function: call it with the parameters after the first to get the check, for `checks=[...]`.

    `run(snapshot, **parameters)` is what the factory does; `function` is the plain function, for a test.
    """

    def __init__(self, function: Callable[..., Any], blocking: bool):
        self.function, self.blocking = function, blocking
        self.kind = f"{function.__module__}:{function.__name__}"
        functools.update_wrapper(self, function)

    def __call__(self, *arguments: P.args, **named: P.kwargs) -> Check:
        bound = inspect.signature(self.function).bind(None, *arguments, **named)
        bound.apply_defaults()
        parameters = dict(list(bound.arguments.items())[1:])
        words = [str(value) for value in bound.args[1:] if isinstance(value, str) and value.isidentifier()]
        return Check(
            name="_".join([self.function.__name__, *words]),
            kind=self.kind,
            parameters=parameters,
            blocking=self.blocking,
            function=self.run,
            description=inspect.cleandoc(self.function.__doc__ or "").partition("\n")[0],
        )

    def run(self, snapshot: Snapshot, **parameters: Any) -> CheckResult:
        """The result on `snapshot`, which the function gets as its first parameter's annotation says."""
        from aifactory.datasets.reading import read

        first = next(iter(inspect.signature(self.function).parameters))
        shape = shapes.of_parameter(self.function, first)
        if shape.form == "unknown":
            raise FactoryError(
                f"check {self.kind}: its first parameter has no annotation that says what it reads",
                expected="Snapshot, pa.Table, Iterator[pa.RecordBatch], Iterator[<row type>] or Path",
                code="check_parameters",
            )
        return _result(self.kind, self.function(read(snapshot, shape), **parameters))


def _result(kind: str, found: object) -> CheckResult:
    if isinstance(found, CheckResult):
        return found
    if isinstance(found, bool):
        return CheckResult(found, {}, "" if found else "the check returned False")
    raise FactoryError(
        f"check {kind} returned neither a CheckResult nor a bool", found=type(found).__name__, code="check_result"
    )


@overload
def check[T, **P](function: Callable[Concatenate[T, P], CheckResult | bool], /) -> CheckMaker[P]: ...
@overload
def check[T, **P](
    *, blocking: bool = True
) -> Callable[[Callable[Concatenate[T, P], CheckResult | bool]], CheckMaker[P]]: ...
def check(function: Callable[..., CheckResult | bool] | None = None, /, *, blocking: bool = True) -> Any:
    """Make a check of a function over a snapshot, table, batches, rows or path; its other parameters are the check's.

    `@check def short(table: pa.Table, column: str, most: int) -> CheckResult` is used as `checks=[short("text", 99)]`;
    `@check(blocking=False)` reports without gating.
    """
    if function is None:
        return lambda function: CheckMaker(function, blocking)
    return CheckMaker(function, blocking)
