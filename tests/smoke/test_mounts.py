"""What the smoke finds when a tree lets a public run do more than it may."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from aifactory.errors import FactoryError
from aifactory.namespace import Namespace
from aifactory.namespace.limits import Limit, limited
from aifactory.smoke.mounts import around, check_limit, check_tree, readable, writable

Closed = Callable[[Path], AbstractContextManager[None]]


@pytest.fixture
def tree(tmp_path: Path) -> tuple[Path, Path, Path]:
    """Root, the run's own directory, the snapshot that it reads."""
    root = tmp_path / "factory"
    own, snapshot = root / "public" / "runs" / "smoke-1", root / "public" / "codes" / "ready" / "@0123456789abcdef"
    for place in (own, root / "public" / "runs" / "train-1", snapshot):
        place.mkdir(parents=True)
    (snapshot / "tokens.bin").write_text("tokens")
    return root, own, snapshot


def test_a_tree_that_can_be_written_is_a_breach_wherever_it_can_be(tree: tuple[Path, Path, Path]) -> None:
    root, own, snapshot = tree
    with pytest.raises(FactoryError, match="write outside its own directory") as caught:
        check_tree(root, own, [snapshot])
    for place in (root, root / "public", own.parent, own.parent / "train-1", snapshot, snapshot.parent):
        assert str(place) in str(caught.value.found)
    assert list(root.rglob(".smoke-probe")) == []


def test_a_tree_that_only_lets_the_own_directory_be_written_is_none(
    tree: tuple[Path, Path, Path], read_only: Closed
) -> None:
    root, own, snapshot = tree
    with read_only(root):
        with pytest.raises(FactoryError, match="can't write in its own directory"):
            check_tree(root, own, [snapshot])
        tried = around(root, own, [snapshot])
        assert writable(tried) == []
    assert own not in tried
    assert {root, root / "public", own.parent, own.parent / "train-1", snapshot} <= set(tried)


def test_a_file_of_a_project_that_opens_is_a_breach_and_names_of_projects_are_none(
    tree: tuple[Path, Path, Path],
) -> None:
    root, own, snapshot = tree
    (root / "private" / "ward").mkdir(parents=True)
    assert readable(root) == []
    notes = root / "private" / "ward" / "notes" / "clean" / "@0123456789abcdef" / "train"
    notes.mkdir(parents=True)
    (notes / "rows.parquet").write_text("x")
    assert readable(root) == ["private/ward/notes/clean/@0123456789abcdef/train/rows.parquet"]
    with pytest.raises(FactoryError, match="a public run can read private data"):
        check_tree(root, own, [snapshot])


def test_without_mounts_a_reader_must_refuse_what_the_spec_does_not_name(ns: Namespace) -> None:
    with limited(Limit("the run smoke-1")):
        check_limit(ns, "private/ward/notes")
    with pytest.raises(FactoryError, match="the reader refuses for another reason"):
        check_limit(ns, "private/ward/notes")
