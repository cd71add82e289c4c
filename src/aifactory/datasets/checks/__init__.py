"""The check kit: small, named, parametrized properties of a snapshot. This lab's own stand in `checks/`."""

from aifactory.datasets.checks.check import Check, CheckResult
from aifactory.datasets.checks.columns import no_nulls, schema
from aifactory.datasets.checks.counts import not_empty, rows
from aifactory.datasets.checks.custom import check
from aifactory.datasets.checks.integrity import files
from aifactory.datasets.checks.tokens import token_range
from aifactory.datasets.checks.uniqueness import disjoint, unique

__all__ = [
    "Check",
    "CheckResult",
    "check",
    "disjoint",
    "files",
    "no_nulls",
    "not_empty",
    "rows",
    "schema",
    "token_range",
    "unique",
]
