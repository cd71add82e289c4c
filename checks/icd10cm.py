"""What must hold of ICD-10-CM."""

import pyarrow as pa

from aifactory.datasets import CheckResult, check


@check
def chapter_count(table: pa.Table, count: int) -> CheckResult:
    """The classification has this many chapters."""
    found = len(table["chapter"].unique())
    return CheckResult(found == count, {"chapters": found, "expected": count}, f"{found} chapters, not {count}")


@check
def leaves(table: pa.Table, count: int) -> CheckResult:
    """So many codes can be billed, and each begins with its category of three characters."""
    found = table.filter(table["leaf"])
    pairs = zip(found["code"].to_pylist(), found["category"].to_pylist(), strict=True)
    outside = sum(code[:3] != category for code, category in pairs)
    reason = f"{found.num_rows} leaves, not {count}; {outside} outside of their category"
    counts = {"leaves": found.num_rows, "expected": count, "outside": outside}
    return CheckResult(found.num_rows == count and not outside, counts, reason)


@check
def one_chapter_per_category(table: pa.Table) -> CheckResult:
    """No category stands in two chapters."""
    pairs = table.select(["category", "chapter"]).group_by(["category", "chapter"]).aggregate([]).num_rows
    categories = len(table["category"].unique())
    counts = {"categories": categories, "in_two": pairs - categories}
    return CheckResult(pairs == categories, counts, f"{pairs - categories} categories in more than one chapter")
