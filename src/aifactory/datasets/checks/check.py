"""What a check is: one asserted property of one snapshot, named and parametrized."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from aifactory.errors import FactoryError

if TYPE_CHECKING:
    from aifactory.namespace import Snapshot


@dataclass(frozen=True)
class CheckResult:
    """`counts` are numbers only (rows seen, rows at fault, ...); `reason` is one sentence, without values of rows."""

    passed: bool
    counts: Mapping[str, int] = field(default_factory=dict)
    reason: str = ""


@dataclass(frozen=True)
class Check:
    """One property of a snapshot. `kind` finds its code again in an image: a name of the kit, or `module:function`.

    `name` is unique within a stage (letters, digits, `_`); `parameters` are JSON; a `blocking` check gates everything
    after it. `columns` are the columns that it reads, so that an unknown one is refused when definitions load.
    """

    name: str
    kind: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    blocking: bool = True
    function: Callable[..., CheckResult] | None = field(default=None, compare=False, repr=False)
    description: str = ""
    columns: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.name.isidentifier() or not self.name.isascii():
            raise FactoryError(
                f"check {self.name!r} has no usable name",
                expected="letters, digits and _",
                fix="give it another name: check.named('...')",
                code="check_name",
            )
        try:
            json.dumps(self.parameters, allow_nan=False)
        except (TypeError, ValueError) as error:
            raise FactoryError(
                f"the parameters of check {self.name!r} are not JSON: {error}",
                fix="pass strings, numbers, booleans or lists of them",
                code="check_parameters",
            ) from None

    def run(self, snapshot: Snapshot) -> CheckResult:
        """The result on `snapshot`. Exceptions are the caller's to record as red."""
        from aifactory.datasets.checks.registry import function_of

        function = self.function or function_of(self.kind)
        return function(snapshot, **dict(self.parameters))

    def warning(self) -> Check:
        """The same check, reported but not blocking."""
        return replace(self, blocking=False)

    def named(self, name: str) -> Check:
        """The same check under another name: two of one kind on one stage need two names."""
        return replace(self, name=name)
