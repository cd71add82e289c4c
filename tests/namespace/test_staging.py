from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from aifactory.errors import FactoryError
from aifactory.namespace import Column, Grant, Namespace, Snapshot, Staging

if TYPE_CHECKING:
    from tests.namespace.conftest import Desk


def test_nothing_is_visible_until_it_is_published(desk: Desk) -> None:
    staging = Staging.start(desk.ns, desk.key, "run")
    (staging.path / "data.txt").write_text("hello")
    assert desk.names() == ["@staging-run"]
    snapshot, _ = staging.seal(kind="table", columns=[Column(name="a", type="int64", nullable=True)])
    assert desk.names() == [f"@{snapshot.version[:16]}"]
    for name in (desk.key, snapshot.name):
        with pytest.raises(FactoryError, match="never published") as caught:
            desk.ns.resolve(name)
        assert caught.value.code == "unpublished"
    assert desk.ns.keys() == []


def test_an_identical_build_makes_no_snapshot(desk: Desk) -> None:
    first = desk.put({"a.txt": "a", "b.txt": "b"})
    before = first.path.stat().st_ino
    with Staging.start(desk.ns, desk.key, "second") as staging:
        for name in ("b", "a"):
            (staging.path / f"{name}.txt").write_text(name)
        second, existed = staging.seal(kind="files")
    assert existed
    assert second == first
    assert first.path.stat().st_ino == before
    assert sorted(desk.names()) == sorted([f"@{first.version[:16]}", "@current", "@journal"])


def test_an_identical_build_replaces_a_damaged_snapshot(desk: Desk) -> None:
    first = desk.put("hello")
    (first.path / "data.txt").chmod(0o644)
    (first.path / "data.txt").write_text("jello")
    assert desk.build("hello") == first
    desk.check(first)
    desk.tidy()


def test_a_build_that_fails_leaves_nothing(desk: Desk) -> None:
    def build() -> None:
        with Staging.start(desk.ns, desk.key, "run") as staging:
            (staging.path / "data.txt").write_text("half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        build()
    assert desk.names() == []


def test_a_staging_can_be_discarded_twice(desk: Desk) -> None:
    staging = Staging.start(desk.ns, desk.key, "run")
    staging.discard()
    staging.discard()
    assert desk.names() == []


def test_a_second_attempt_starts_empty(desk: Desk) -> None:
    (Staging.start(desk.ns, desk.key, "run").path / "old.txt").write_text("old")
    staging = Staging.start(desk.ns, desk.key, "run")
    assert list(staging.path.iterdir()) == []
    assert desk.names() == ["@staging-run"]


def test_a_build_without_a_file_is_refused(desk: Desk) -> None:
    with Staging.start(desk.ns, desk.key, "run") as staging:
        (staging.path / "empty" / "directory").mkdir(parents=True)
        with pytest.raises(FactoryError, match="holds no file") as caught:
            staging.seal(kind="files")
    assert caught.value.code == "empty"


def test_empty_directories_are_no_content(desk: Desk) -> None:
    with Staging.start(desk.ns, desk.key, "run") as staging:
        (staging.path / "data.txt").write_text("hello")
        (staging.path / "empty" / "directory").mkdir(parents=True)
        snapshot, _ = staging.seal(kind="files")
    assert sorted(path.name for path in snapshot.path.iterdir()) == ["data.txt", "manifest.json"]


@pytest.mark.parametrize("what", ["symlink", "symlink to a directory", "pipe"])
def test_a_build_that_leaves_something_else_than_files_is_refused(desk: Desk, tmp_path: Path, what: str) -> None:
    with Staging.start(desk.ns, desk.key, "run") as staging:
        (staging.path / "data.txt").write_text("hello")
        if what == "pipe":
            os.mkfifo(staging.path / "odd")
        else:
            (staging.path / "odd").symlink_to("data.txt" if what == "symlink" else tmp_path)
        with pytest.raises(FactoryError) as caught:
            staging.seal(kind="files")
    assert caught.value.code == "escape"
    assert str(staging.path / "odd") in str(caught.value)


@pytest.mark.parametrize(
    ("name", "rows", "found"),
    [
        ("data.txt", {"other.txt": (1, None)}, "other.txt"),
        ("data.txt", {"data.txt": (1, "dev")}, "'dev'"),
        ("data.txt", {"data.txt": (-1, None)}, "greater than or equal to 0"),
        ("bad\nname", {}, "not a name"),
        ("manifest.json", {}, "not a name"),
    ],
)
def test_wrong_rows_parts_and_names_are_refused(
    desk: Desk, name: str, rows: dict[str, tuple[int, str]], found: str
) -> None:
    with Staging.start(desk.ns, desk.key, "run") as staging:
        (staging.path / name).write_text("hello")
        with pytest.raises(FactoryError, match="the build of public/medquad/clean") as caught:
            staging.seal(kind="files", rows=rows)
    assert found in str(caught.value.found)
    assert desk.names() == []


@pytest.mark.parametrize("run", ["", "..", "a/b", "@x", "a\0", "r" * 101])
def test_a_run_whose_name_would_leave_is_refused(ns: Namespace, run: str) -> None:
    with pytest.raises(FactoryError, match="not a run's name"):
        Staging.start(ns, "public/a", run)


def test_inputs_of_another_class_are_refused_before_a_byte_is_written(ns: Namespace) -> None:
    with pytest.raises(FactoryError, match="private/a/notes -> public/mix") as caught:
        Staging.start(ns, "public/mix", "run", inputs=["public/x", "private/a/notes"])
    assert caught.value.code == "class"
    assert not ns.root.exists()
    Staging.start(ns, "private/b/mix", "run", inputs=["private/a/x"], grants=[Grant("private/a", "private/b", "board")])


def test_a_read_only_root_is_named_and_still_read(
    desk: Desk, read_only: Callable[[Path], AbstractContextManager[None]]
) -> None:
    snapshot = desk.put("hello")
    other = desk.build("other")
    with read_only(desk.ns.root):
        for act in (
            lambda: Staging.start(desk.ns, desk.key, "run"),
            lambda: Staging.start(desk.ns, "public/new", "run"),
            lambda: desk.publish(other),
        ):
            with pytest.raises(FactoryError) as caught:
                act()
            assert caught.value.code == "read_only"
            assert str(desk.ns.root) in caught.value.what
        desk.check(snapshot)
    desk.publish(other)


def seal_and_publish(desk: Desk, staging: Staging) -> Snapshot:
    snapshot, _ = staging.seal(kind="files")
    desk.publish(snapshot)
    return snapshot


def test_a_full_disk_at_any_moment_keeps_the_last_good_version(
    small_disk: tuple[Path, Callable[[int], AbstractContextManager[None]]], desk: Desk
) -> None:
    disk, room = small_disk
    desk.ns = Namespace(disk / "namespace")
    good = desk.put({"a.txt": "a" * 5000, "b.txt": "b"})
    outcomes = set()
    for pages in range(12):
        with Staging.start(desk.ns, desk.key, "large") as staging:
            for name in ("a", "b"):
                (staging.path / f"{name}.txt").write_text(f"{name} {pages}" * 1000)
            try:
                with room(pages * 4096):
                    good = seal_and_publish(desk, staging)
                outcomes.add("published")
            except FactoryError as error:
                outcomes.add(error.code)
        desk.check(good)
    assert outcomes == {"published", "disk_full"}
    desk.put("small again")
    desk.tidy()


def test_files_of_any_size_cost_a_handful_of_flushes(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    flushed, flush = [], os.fsync
    monkeypatch.setattr(os, "fsync", lambda handle: (flushed.append(handle), flush(handle)))
    desk.put("first")
    flushed.clear()
    snapshot: Snapshot = desk.put({"train.txt": "a", "val.txt": "b", "test.txt": "c"})
    # 3 files, the manifest, their directory, the key's; record and journal; `@current`.
    assert len(flushed) == 9
    assert desk.ns.resolve(desk.key) == snapshot
