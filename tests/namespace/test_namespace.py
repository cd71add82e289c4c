from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from aifactory.errors import FactoryError
from aifactory.namespace import Namespace

if TYPE_CHECKING:
    from tests.namespace.conftest import Desk


def test_a_key_a_pinned_version_a_canonical_name_and_a_path_name_the_same_place(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = desk.put({"train/a.txt": "first"}), desk.put({"train/a.txt": "second"})
    ns = desk.ns
    assert ns.local(desk.key) == second.path
    assert ns.local(f"{desk.key}@{first.version[:10]}") == first.path
    assert ns.local(first.canonical) == ns.local(first.path) == ns.local(str(first.path)) == first.path
    file = first.path / "train" / "a.txt"
    assert ns.canonical(file) == f"{first.canonical}/train/a.txt"
    assert ns.local(ns.canonical(file)) == ns.local(f"{first.canonical}/train/a.txt") == file
    assert ns.local(f"{desk.key}/{first.path.name}/train") == first.path / "train"
    monkeypatch.chdir(first.path)
    assert ns.local("train/a.txt") == file
    assert ns.canonical("train/a.txt") == f"{first.canonical}/train/a.txt"
    assert ns.canonical(second.path.parent / "@current" / "train") == f"{second.canonical}/train"
    assert (ns.local("/factory"), ns.canonical(ns.root)) == (ns.root, "/factory")


def test_runs_and_lines_have_names_too(ns: Namespace) -> None:
    run = ns.class_root("private/oncology") / "runs" / "train-tiny-0123456789ab"
    assert ns.canonical(run) == "/factory/private/oncology/runs/train-tiny-0123456789ab"
    assert ns.local("private/oncology/runs/train-tiny-0123456789ab") == run
    assert ns.local("public/models/tiny") == ns.directory("public/models/tiny")
    assert ns.class_root("public") == ns.root / "public"
    with pytest.raises(FactoryError, match="not a class"):
        ns.class_root("oncology")


@pytest.mark.parametrize(
    "name",
    ["/factory/../etc/passwd", "/factory/public/a/../../../etc", "/etc/passwd", "../outside", "/factory/public/\0"],
)
def test_a_name_outside_of_the_tree_is_refused(ns: Namespace, name: str) -> None:
    with pytest.raises(FactoryError) as caught:
        ns.local(name)
    assert caught.value.code == "escape"
    assert caught.value.fix
    with pytest.raises(FactoryError):
        ns.canonical("/etc/passwd")


@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize("target", ["outside", "inside"])
def test_a_symlink_in_the_place_of_a_key_is_refused(desk: Desk, tmp_path: Path, depth: int, target: str) -> None:
    snapshot = desk.put("hello")
    link = desk.ns.root.joinpath(*desk.key.split("/")[:depth])
    moved = (tmp_path if target == "outside" else desk.ns.root) / "elsewhere"
    link.rename(moved)
    link.symlink_to(moved)
    for act in (
        lambda: desk.ns.resolve(desk.key),
        lambda: desk.ns.directory(desk.key),
        lambda: desk.ns.local(snapshot.canonical),
        lambda: desk.build("new"),
    ):
        with pytest.raises(FactoryError) as caught:
            act()
        assert caught.value.code == "escape"
        assert str(moved) in str(caught.value)
    assert desk.ns.keys() == []


def test_a_symlink_from_a_snapshot_into_another_key_is_refused(desk: Desk) -> None:
    other = desk.put("other")
    desk.key = "public/medquad/parts"
    snapshot = desk.put("hello")
    (snapshot.path / "link").symlink_to(other.path / "data.txt")
    with pytest.raises(FactoryError) as caught:
        desk.ns.local(f"{snapshot.canonical}/link")
    assert caught.value.code == "escape"


def test_a_loop_of_symlinks_is_refused(ns: Namespace) -> None:
    (ns.root / "public").mkdir(parents=True)
    (ns.root / "public" / "a").symlink_to("b")
    (ns.root / "public" / "b").symlink_to("a")
    with pytest.raises(FactoryError) as caught:
        ns.directory("public/a")
    assert caught.value.code == "escape"


def test_a_root_behind_a_symlink_is_fine(desk: Desk, tmp_path: Path) -> None:
    snapshot = desk.put("hello")
    (tmp_path / "mount").symlink_to(desk.ns.root)
    mounted = Namespace(tmp_path / "mount")
    assert mounted.resolve(desk.key).version == snapshot.version
    assert mounted.canonical(mounted.local(snapshot.canonical)) == snapshot.canonical
    assert mounted.canonical(snapshot.path) == snapshot.canonical


def test_one_key_can_be_mounted_alone(desk: Desk, tmp_path: Path) -> None:
    snapshot = desk.put("hello")
    alone = tmp_path / "alone" / "public" / "medquad"
    alone.mkdir(parents=True)
    desk.ns.directory(desk.key).rename(alone / "clean")
    assert (alone / "clean" / "@current" / "data.txt").read_text() == "hello"
    assert Namespace(tmp_path / "alone").resolve(desk.key).version == snapshot.version


def test_keys_are_those_that_were_published(desk: Desk) -> None:
    for key in ("public/medquad", "private/oncology/notes/raw", "public/models/tiny"):
        desk.key = key
        desk.put("hello")
    desk.key = "public/unpublished"
    desk.build("hello")
    for odd in (
        "public/Odd/@journal",
        "public/runs/x/@journal",
        "public/models/tiny/inner/@journal",
        "other/a/@journal",
    ):
        (desk.ns.root / odd).mkdir(parents=True)
    (desk.ns.root / "public" / "file").write_text("")
    published = ["private/oncology/notes/raw", "public/medquad", "public/models/tiny"]
    assert desk.ns.keys() == published
    assert desk.ns.places() == [*published, "public/unpublished"]


def test_a_key_that_was_never_published_names_close_ones(desk: Desk) -> None:
    desk.put("hello")
    with pytest.raises(FactoryError, match="never published") as caught:
        desk.ns.resolve("public/medquad/cleen")
    assert desk.key in str(caught.value.found)
    assert "public/medquad/cleen" in caught.value.fix


@pytest.mark.parametrize("pinned", ["", "1234567", "z" * 16, "0" * 64, "../../x"])
def test_a_version_that_names_nothing_is_refused(desk: Desk, pinned: str) -> None:
    snapshot = desk.put("hello")
    for act in (lambda: desk.ns.resolve(f"{desk.key}@{pinned}"), lambda: desk.ns.resolve(desk.key, pinned)):
        with pytest.raises(FactoryError) as caught:
            act()
        assert caught.value.code == "version"
        assert snapshot.path.name in str(caught.value)


def test_an_empty_namespace_has_no_keys_and_makes_no_directory(ns: Namespace) -> None:
    assert ns.keys() == []
    with pytest.raises(FactoryError, match="0 published keys"):
        ns.resolve("public/a")
    assert not ns.root.exists()


def test_the_root_comes_from_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AIFACTORY_ROOT", str(tmp_path / "here"))
    assert Namespace.open().root == tmp_path / "here"


def test_reading_the_namespace_imports_nothing_heavy() -> None:
    heavy = ("torch", "ray", "kubernetes", "dagster", "pyarrow", "numpy")
    code = f"import sys, aifactory.namespace; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
