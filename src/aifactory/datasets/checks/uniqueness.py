"""Whether rows are distinct, within the whole and between parts."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING

from aifactory.datasets.checks.check import Check, CheckResult
from aifactory.datasets.checks.reading import distinct, hashes

if TYPE_CHECKING:
    from aifactory.namespace import Snapshot


def unique(*columns: str) -> Check:
    """No two rows have the same value in these columns (taken together). Needs 16 bytes of memory a row."""
    return Check("unique_" + "_".join(columns), "unique", {"columns": list(columns)}, columns=columns)


def disjoint(by: str) -> Check:
    """No two parts share a value of the column `by`. Needs 16 bytes of memory a row."""
    return Check(f"disjoint_{by}", "disjoint", {"by": by}, columns=(by,))


def run_unique(snapshot: Snapshot, columns: Sequence[str]) -> CheckResult:
    pairs = hashes(snapshot, columns)
    total, single = len(pairs), len(distinct(pairs))
    counts = {"rows": total, "distinct": single, "duplicates": total - single}
    if total == single:
        return CheckResult(True, counts, f"{total} rows, all distinct")
    return CheckResult(False, counts, f"{total - single} of {total} rows repeat the {', '.join(columns)} of another")


def run_disjoint(snapshot: Snapshot, by: str) -> CheckResult:
    import numpy as np

    groups = {part: distinct(hashes(snapshot, [by], part)) for part in snapshot.manifest.parts if part}
    counts = {f"groups_{part}": len(found) for part, found in groups.items()}
    shared: dict[str, int] = {}
    for one, other in combinations(groups, 2):
        both = len(distinct(np.concatenate([groups[one], groups[other]])))
        shared[f"shared_{one}_{other}"] = len(groups[one]) + len(groups[other]) - both
    bad = {name: value for name, value in shared.items() if value}
    reason = ", ".join(f"{n} values of {by}: {name.replace('_', ' ')}" for name, n in bad.items())
    if not groups:
        return CheckResult(False, {}, "there are no parts to compare")
    return CheckResult(not bad, {**counts, **shared}, reason or f"{sum(counts.values())} groups, none shared")
