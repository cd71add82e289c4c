from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from aifactory.errors import FactoryError
from aifactory.namespace.identities import Identity
from aifactory.namespace.trees import NAMED, Look, lay_out, look

ME = {of: Identity(of, os.geteuid(), os.getegid()) for of in ("public", "private/ward")}


def mode(path: Path) -> str:
    return f"{stat.S_IMODE(path.stat().st_mode):04o}"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    lay_out(tmp_path / "tree", ME.values())
    return tmp_path / "tree"


def wrong(root: Path) -> list[Look]:
    return [one for one in look(root, ME, ()) if one.fix]


def test_public_is_read_by_all_private_by_its_group_and_both_are_written_by_one(root: Path) -> None:
    modes = {name: mode(root / name) for name in ("", "private", "public", "private/ward")}
    assert modes == {"": "0755", "private": "0755", "public": "2755", "private/ward": "2750"}
    assert [one.text for one in look(root, ME, ())] == [
        f"{ME['private/ward'].owner} 2750, 0 files and folders, no link leads out",
        f"{ME['public'].owner} 2755, 0 files and folders, no link leads out",
    ]


def test_laying_out_twice_changes_nothing_and_mends_what_was_changed(root: Path) -> None:
    assert lay_out(root, ME.values()) == []
    (root / "private" / "ward").chmod(0o777)
    root.chmod(0o777)
    assert [one.place for one in wrong(root)] == [str(root), "private/ward"]
    assert len(lay_out(root, ME.values())) == 2
    assert wrong(root) == []


def test_what_others_may_write_or_cannot_read_is_named_a_few_times_and_counted(root: Path) -> None:
    for number in range(NAMED + 3):
        path = root / "public" / f"{number}.txt"
        path.touch()
        path.chmod(0o666)
    (root / "public" / "closed").mkdir(mode=0o700)
    (root / "private" / "ward" / "closed").mkdir(mode=0o700)
    said = [one.text for one in wrong(root)]
    assert [text for text in said if "others may write" in text] == [
        f"{number}.txt: mode 0666: others may write" for number in range(NAMED)
    ]
    assert "3 more like the last one" in said
    assert [text for text in said if "can't read" in text] == ["closed: mode 2700: others can't read public data"]


def test_a_link_may_stay_in_its_key_and_nothing_else(root: Path) -> None:
    key = root / "public" / "words" / "raw"
    (key / "@0123456789abcdef").mkdir(parents=True)
    (key / "@current").symlink_to("@0123456789abcdef")
    assert wrong(root) == []
    (key / "@out").symlink_to(root / "private" / "ward")
    (root / "public" / "loop").symlink_to("loop")
    said = [one.text for one in wrong(root)]
    assert [text.partition(":")[0] for text in said] == ["loop", "words/raw/@out"]


def test_a_class_without_a_folder_and_one_without_an_identity(root: Path) -> None:
    (root / "private" / "ward").rmdir()
    assert [(one.place, one.fix) for one in wrong(root)] == [("private/ward", "aifactory doctor --init-root, as root")]
    (root / "private" / "other").mkdir(mode=0o777)
    said = {one.place: one.text for one in look(root, {}, ["public", "private/other"])}
    assert said == dict.fromkeys(("public", "private/other"), "0 files and folders, no link leads out")


@pytest.mark.parametrize("place", ["public", "private", "private/ward"])
def test_a_symlink_in_place_of_a_root_is_refused(root: Path, tmp_path: Path, place: str) -> None:
    (root / place).rename(tmp_path / "moved")
    (root / place).symlink_to(tmp_path / "moved")
    with pytest.raises(FactoryError) as caught:
        lay_out(root, ME.values())
    assert caught.value.code == "escape"
    assert any("symlink" in one.text for one in wrong(root))


def test_who_is_not_root_gives_nothing_away(root: Path, tmp_path: Path) -> None:
    was_root = os.geteuid() == 0
    if was_root:
        for place in (*tmp_path.parents[:2], tmp_path):
            place.chmod(0o755)  # pytest keeps its folders to their owner
        os.seteuid(61002)
    try:
        for owner in (Identity("public", 61003, 61003), Identity("private/new", 61003, 61003)):
            with pytest.raises(FactoryError) as caught:
                lay_out(root, [owner])
            assert (caught.value.code, caught.value.expected) == ("not_root", "root")
    finally:
        if was_root:
            os.seteuid(0)
