"""The checks that a stage has without asking, and whether its own fit it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aifactory.datasets.checks.check import Check
from aifactory.datasets.checks.counts import not_empty
from aifactory.datasets.checks.integrity import files
from aifactory.datasets.checks.reading import unknown_columns
from aifactory.datasets.checks.tokens import token_range
from aifactory.datasets.checks.uniqueness import disjoint
from aifactory.errors import FactoryError

if TYPE_CHECKING:
    from aifactory.datasets.stage import Stage

_FILES, _NOT_EMPTY, _TOKENS = files(), not_empty(), token_range()


def all_checks(stage: Stage) -> tuple[Check, ...]:
    """Integrity first (whatever was declared, it blocks), then what the kind implies, then the stage's own.

    Raises FactoryError for two checks of one name, and for a check of a column that the rows are known not to have.
    """
    own = stage.given_checks
    found: dict[str, Check] = {_FILES.name: _FILES}
    given = {check.name for check in own}
    for check in (*_implied(stage), *own):
        if check.kind == "files":
            continue
        if check.name in found and check.name in given and found[check.name] in own:
            raise FactoryError(
                f"{stage.label}: two checks have the name {check.name!r}",
                found=check.name,
                fix="name one of them: check.named('...')",
                code="two_checks",
            )
        found[check.name] = check
    _columns(stage)
    return tuple(found.values())


def _implied(stage: Stage) -> list[Check]:
    checks = [_NOT_EMPTY]
    schema = stage.row_schema
    if schema is not None and stage.kind == "table":
        columns = [[column.name, column.type, column.nullable] for column in schema.columns]
        checks.append(Check("schema", "schema", {"columns": columns}))
    if stage.factory == "split":
        checks.append(disjoint(stage.parameters["by"]))
    if stage.factory == "tokenize":
        checks += [disjoint("group"), _TOKENS]
    return checks


def _columns(stage: Stage) -> None:
    schema = stage.row_schema
    if schema is None or stage.kind not in ("table", "suite"):
        return
    known = set(schema.names)
    for check in stage.given_checks:
        missing = [name for name in check.columns if name not in known]
        if missing:
            raise unknown_columns(missing, schema.names, f"{stage.label}, check {check.name}")
