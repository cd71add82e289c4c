"""What must hold of ICD-10-CM."""

import pyarrow as pa
import pyarrow.compute as pc

from aifactory.datasets import CheckResult, check


@check
def chapter_count(table: pa.Table, count: int) -> CheckResult:
    """The classification has this many chapters."""
    found = pc.count_distinct(table["chapter"]).as_py()
    return CheckResult(found == count, {"chapters": found, "expected": count}, f"{found} chapters, not {count}")


@check
def leaves(table: pa.Table, count: int) -> CheckResult:
    """So many codes can be billed, and each begins with its category of three characters."""
    found = table.filter(table["leaf"])
    inside = pc.equal(pc.utf8_slice_codeunits(found["code"], 0, 3), found["category"])
    outside = found.num_rows - (pc.sum(inside).as_py() or 0)
    reason = f"{found.num_rows} leaves, not {count}; {outside} outside of their category"
    counts = {"leaves": found.num_rows, "expected": count, "outside": outside}
    return CheckResult(found.num_rows == count and not outside, counts, reason)


@check
def one_chapter_per_category(table: pa.Table) -> CheckResult:
    """No category stands in two chapters."""
    pairs = table.select(["category", "chapter"]).group_by(["category", "chapter"]).aggregate([]).num_rows
    categories = pc.count_distinct(table["category"]).as_py()
    counts = {"categories": categories, "in_two": pairs - categories}
    return CheckResult(pairs == categories, counts, f"{pairs - categories} categories in more than one chapter")
