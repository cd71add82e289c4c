"""How many rows there are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aifactory.datasets.checks.check import Check, CheckResult
from aifactory.datasets.checks.reading import rows_of
from aifactory.errors import FactoryError

if TYPE_CHECKING:
    from aifactory.namespace import Snapshot


def rows(exact: int | None = None, *, min: int | None = None, max: int | None = None) -> Check:
    """The number of rows: exactly `exact`, or between `min` and `max` (either may be left out)."""
    if (exact is None) == (min is None and max is None):
        raise FactoryError("rows() takes either an exact number or min= and max=", code="check_parameters")
    low, high = (exact, exact) if exact is not None else (min, max)
    wanted = {"min": low, "max": high}
    return Check("rows", "rows", {name: value for name, value in wanted.items() if value is not None})


def not_empty() -> Check:
    """At least one row, and at least one in every part."""
    return Check("not_empty", "not_empty")


def run_rows(snapshot: Snapshot, min: int | None = None, max: int | None = None) -> CheckResult:
    found = rows_of(snapshot)
    few, many = min is not None and found < min, max is not None and found > max
    wanted = {name: value for name, value in (("min", min), ("max", max)) if value is not None}
    reason = f"{found} rows, expected " + (f"{min}" if min == max else f"at least {min}" if few else f"at most {max}")
    return CheckResult(not (few or many), {"rows": found, **wanted}, reason if few or many else f"{found} rows")


def run_not_empty(snapshot: Snapshot) -> CheckResult:
    if snapshot.manifest.kind in ("files", "tokenizer"):
        count = len(snapshot.files())
        empty = [entry.path for entry in snapshot.files() if entry.bytes == 0]
        passed = count > 0 and not empty
        reason = f"{count} files" if passed else f"empty files: {', '.join(empty[:5])}" if count else "no files"
        return CheckResult(passed, {"files": count, "empty_files": len(empty)}, reason)
    parts = [part for part in snapshot.manifest.parts if part]
    found = {f"rows_{part}": rows_of(snapshot, part) for part in parts} or {"rows": rows_of(snapshot)}
    empty = [name.removeprefix("rows_") for name, value in found.items() if value == 0]
    if not empty:
        return CheckResult(True, found, f"{sum(found.values())} rows")
    return CheckResult(False, found, f"no rows in {', '.join(empty)}" if parts else "no rows")
