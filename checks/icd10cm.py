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
def leaves_in_category(table: pa.Table) -> CheckResult:
    """Every leaf's code begins with its category of three characters."""
    leaves = table.filter(table["leaf"])
    inside = pc.equal(pc.utf8_slice_codeunits(leaves["code"], 0, 3), leaves["category"])
    outside = leaves.num_rows - pc.sum(inside).as_py()
    return CheckResult(outside == 0, {"leaves": leaves.num_rows, "outside": outside}, f"{outside} leaves elsewhere")


@check
def one_chapter_per_category(table: pa.Table) -> CheckResult:
    """No category stands in two chapters."""
    pairs = table.select(["category", "chapter"]).group_by(["category", "chapter"]).aggregate([]).num_rows
    categories = pc.count_distinct(table["category"]).as_py()
    counts = {"categories": categories, "in_two": pairs - categories}
    return CheckResult(pairs == categories, counts, f"{pairs - categories} categories in more than one chapter")
