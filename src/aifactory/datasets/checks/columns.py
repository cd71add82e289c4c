"""What the columns are and whether values are missing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from aifactory.datasets.checks.check import Check, CheckResult
from aifactory.datasets.checks.reading import batches, tables

if TYPE_CHECKING:
    from aifactory.namespace import Snapshot


def schema(of: Any) -> Check:
    """The columns are those of a row type or an Arrow schema: names in order, types, nullability."""
    from aifactory.datasets.schema import of as read

    columns = [[column.name, column.type, column.nullable] for column in read(of).columns]
    return Check("schema", "schema", {"columns": columns})


def no_nulls(*columns: str) -> Check:
    """No value is missing in these columns."""
    return Check("no_nulls_" + "_".join(columns), "no_nulls", {"columns": list(columns)}, columns=columns)


def run_schema(snapshot: Snapshot, columns: Sequence[Sequence[Any]]) -> CheckResult:
    import pyarrow.parquet as pq

    wanted = {name: (kind, nullable) for name, kind, nullable in columns}
    faults: dict[str, str] = {}
    for path in tables(snapshot):
        found = pq.read_schema(path)
        for name, (kind, nullable) in wanted.items():
            if name not in found.names:
                faults.setdefault(name, f"column {name} is missing")
            elif str(found.field(name).type) != kind:
                faults.setdefault(name, f"column {name}: found {found.field(name).type}, expected {kind}")
            elif found.field(name).nullable and not nullable:
                faults.setdefault(name, f"column {name}: found nullable, expected not null")
        for name in found.names:
            if name not in wanted:
                faults.setdefault(name, f"column {name} is not declared")
        if not faults and found.names != list(wanted):
            faults["order"] = f"columns stand as {', '.join(found.names)}, expected {', '.join(wanted)}"
    nulls = 0
    required = [name for name, (_, nullable) in wanted.items() if not nullable]
    if required and not faults:
        result = run_no_nulls(snapshot, required)
        nulls = result.counts["nulls"]
        if not result.passed:
            faults["nulls"] = result.reason
    counts = {"columns": len(wanted), "faults": len(faults), "nulls": nulls}
    return CheckResult(not faults, counts, "; ".join(faults.values()) or f"{len(wanted)} columns")


def run_no_nulls(snapshot: Snapshot, columns: Sequence[str]) -> CheckResult:
    missing = dict.fromkeys(columns, 0)
    total = 0
    for batch in batches(snapshot, columns):
        total += batch.num_rows
        for name in columns:
            missing[name] += batch.column(name).null_count
    bad = {name: value for name, value in missing.items() if value}
    reason = ", ".join(f"{value} of {total} rows have no {name}" for name, value in bad.items())
    return CheckResult(
        not bad, {"rows": total, "nulls": sum(missing.values())}, reason or f"{total} rows, none missing"
    )
