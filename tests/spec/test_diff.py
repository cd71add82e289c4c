"""Diff: what it lists, what counts, and its reviewed text."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from aifactory.spec.diff import diff
from aifactory.spec.diff_text import lines, summary
from aifactory.spec.difference import Diff, Facts, ImageFiles, Side
from tests.spec.diffs import NEW_COMMIT, NEWER, OLD_COMMIT, SPECS, edited, everything, manifest, side
from tests.spec.factories import IMAGE, VERSION, train_spec

GOLDEN = Path(__file__).parents[1] / "golden"


def change_of(found: Diff, group: str) -> Any:
    (one,) = [one for one in found.changes if one.group == group]
    return one


@pytest.mark.parametrize("kind", SPECS)
def test_a_spec_and_itself_are_identical(kind: str) -> None:
    found = diff(side(SPECS[kind]), side(SPECS[kind]))
    assert (found.verdict, found.changes) == ("identical except: []", ())
    assert list(lines(found)) == ["identical except: []"]


def test_what_a_bare_spec_file_never_recorded_is_no_difference() -> None:
    assert not diff(side(train_spec()), side(train_spec(), recipe="tiny", commit=NEW_COMMIT)).changes


def test_another_commit_counts_as_code_only_with_another_image() -> None:
    old, new = side(train_spec(), commit=OLD_COMMIT), side(train_spec(), commit=NEW_COMMIT)
    facts = Facts(commits=("> b words",))
    assert [one.group for one in diff(old, new, facts).changes] == ["context"]
    new = Side("new", edited(train_spec(), image__digest=NEWER), new.context)
    assert diff(old, new, facts).except_for == ("code commit", "image digest")
    files = {"src/a.py": "1", "locks/train.lock": "1"}
    images = {IMAGE.digest: ImageFiles(files, "a==1\n"), NEWER: ImageFiles(files | {"locks/train.lock": "2"}, "a==2\n")}
    found = diff(old, new, Facts(images=images, commits=("> b words",)))
    assert found.except_for == ("image packages",)
    assert [one.name for one in found.changes if one.group == "context"] == ["commit"]
    assert change_of(found, "image").about == {"packages": {"a": ["1", "2"]}}


def test_a_summary_names_no_file_of_the_data() -> None:
    spec = edited(train_spec(), inputs__0__version=NEWER)
    key = "public/icd10cm/ready"
    manifests = {(key, VERSION): manifest(train=("a", 1)), (key, NEWER): manifest(train=("b", 3), val=("c", 1))}
    one = change_of(diff(side(train_spec()), side(spec), Facts(manifests=manifests)), "data")
    assert summary(one) == "rows 1 -> 3 (+2), bytes 10 -> 30 (+20); 1 added, 1 changed files"


def test_a_diff_is_told_as_reviewed() -> None:
    texts = {
        "diff.txt": "\n".join(lines(everything())) + "\n",
        "diff.json": json.dumps(everything().document(), indent=2) + "\n",
    }
    for name, text in texts.items():
        if os.environ.get("AIFACTORY_GOLDEN") == "write":
            (GOLDEN / name).write_text(text)
        assert (GOLDEN / name).read_text() == text, "review the change, then run this with AIFACTORY_GOLDEN=write"
