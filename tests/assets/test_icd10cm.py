from __future__ import annotations

import dataclasses
import hashlib
import json
import shutil
from pathlib import Path

import pyarrow as pa
import pytest

from aifactory.data.split import parts_of
from aifactory.errors import FactoryError
from assets.public import icd10cm
from checks.icd10cm import chapter_count, leaves, one_chapter_per_category


@pytest.fixture(scope="module")
def codes(icd10cm_raw: Path) -> list[icd10cm.Code]:
    return list(icd10cm.clean(icd10cm_raw))


def test_every_entry_of_the_classification_is_one_row(codes: list[icd10cm.Code]) -> None:
    by_code = {row.code: row for row in codes}
    assert len(codes) == len(by_code) == 98_505
    assert sum(row.leaf for row in codes) == 74_719
    assert all(row.description and row.chapter for row in codes)
    assert by_code["T36.0X1A"] == icd10cm.Code(
        code="T36.0X1A",
        description="Poisoning by penicillins, accidental (unintentional), initial encounter",
        chapter="Injury, poisoning and certain other consequences of external causes",
        category="T36",
        leaf=True,
        text="Poisoning by penicillins, accidental (unintentional), initial encounter\n"
        "chapter: Injury, poisoning and certain other consequences of external causes",
    )
    # A block of one category has its name, and is told from it.
    assert (by_code["B99-B99"].category, by_code["B99"].category, by_code["B99-B99"].leaf) == ("B99", "B99", False)
    assert (by_code["1"].category, by_code["A00-A09"].category, by_code["A00.0"].category) == ("1", "A00-A09", "A00")


def test_rows_are_those_of_the_reader_in_the_package(codes: list[icd10cm.Code]) -> None:
    import simple_icd_10_cm as peer

    named = peer.get_all_codes(True)
    blocks = [n for n, code in enumerate(named[:-1]) if code == named[n + 1]]
    assert len(blocks) == 39
    assert [row.code for row in codes] == [f"{code}-{code}" if n in blocks else code for n, code in enumerate(named)]
    # It counts blocks without categories, and blocks named like a category that is one, as leaves: these are no codes.
    assert sum(map(peer.is_leaf, named)) == 74_719 + 12 + 5
    synonyms = 0
    for row in codes:
        if peer.is_valid_item(row.code):
            assert peer.is_leaf(row.code) == row.leaf or "-" in row.code
            # It appends further notes on a seventh character to the title, with a slash.
            title, slash, _ = peer.get_description(row.code).partition("/\t")
            synonyms += title != row.description or bool(slash)
            assert title.startswith(row.description)
    assert synonyms == 527


def test_the_rows_are_these(codes: list[icd10cm.Code]) -> None:
    digest = hashlib.sha256()
    for row in codes:
        digest.update(json.dumps(dataclasses.astuple(row), ensure_ascii=False).encode())
    assert digest.hexdigest() == GOLDEN


GOLDEN = "51e3d41a903f5cb6f4c2cb0c2013db0b0192a1547f9d35f823d6f1ec07630a98"


def test_the_lab_checks_pass_on_it_and_see_faults(codes: list[icd10cm.Code]) -> None:
    table = pa.Table.from_pylist([dataclasses.asdict(row) for row in codes])
    assert chapter_count.function(table, 22).passed
    assert leaves.function(table, 74_719).passed
    assert one_chapter_per_category.function(table).passed


def test_parts_are_disjoint_by_category_and_none_is_empty(codes: list[icd10cm.Code]) -> None:
    parts = parts_of(pa.array([row.category for row in codes]), {"train": 0.9, "val": 0.05, "test": 0.05}).to_pylist()
    found: dict[str, set[str]] = {}
    for row, part in zip(codes, parts, strict=True):
        found.setdefault(part, set()).add(row.category)
    assert {part: len(categories) for part, categories in found.items()} == {"train": 1980, "val": 106, "test": 112}
    assert sum(map(len, found.values())) == len({row.category for row in codes}) == 2198


def test_a_malformed_table_is_named(icd10cm_raw: Path, tmp_path: Path) -> None:
    shutil.copytree(icd10cm_raw / "data", tmp_path / "data")
    tabular = tmp_path / icd10cm.TABULAR
    tabular.write_bytes(tabular.read_bytes()[:100_000])
    with pytest.raises(FactoryError, match=f"{tabular.name}: malformed XML"):
        list(icd10cm.clean(tmp_path))
