from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from aifactory.errors import FactoryError
from aifactory.namespace import Namespace, Staging

if TYPE_CHECKING:
    from tests.namespace.conftest import Desk


def rewrite(path: Path, data: bytes) -> None:
    path.chmod(0o644)
    path.write_bytes(data)


def test_a_snapshot_verifies_and_gives_its_files_by_part(ns: Namespace) -> None:
    with Staging.start(ns, "public/a/parts", "run") as staging:
        for part in ("train", "test"):
            (staging.path / f"{part}.txt").write_text(part)
        (staging.path / "README").write_text("about")
        rows = {"train.txt": (7, "train"), "test.txt": (2, "test")}
        snapshot, existed = staging.seal(kind="files", rows=rows, benchmark=True)
    assert not existed
    snapshot.verify()
    assert snapshot.paths("train") == [snapshot.path / "train.txt"]
    assert [file.path for file in snapshot.files()] == ["README", "test.txt", "train.txt"]
    assert (snapshot.manifest.rows, snapshot.manifest.benchmark) == (9, True)
    assert snapshot.name == f"public/a/parts@{snapshot.version[:16]}"
    assert ns.local(snapshot.canonical) == snapshot.path
    with pytest.raises(FactoryError, match="has no part 'val'") as caught:
        snapshot.files("val")
    assert "train, test" in str(caught.value)


def test_a_flipped_byte_is_found_and_named_with_both_values(desk: Desk) -> None:
    snapshot = desk.put({"a.bin": "hello world", "b.bin": "other"})
    rewrite(snapshot.path / "a.bin", b"hello wOrld")
    with pytest.raises(FactoryError) as caught:
        snapshot.verify()
    error = caught.value
    assert error.code == "integrity"
    assert str(snapshot.path / "a.bin") in error.what
    entry = snapshot.files()[0]
    assert error.expected == f"sha256 {entry.sha256}"
    assert str(error.found).startswith("sha256 ")
    assert "materialize" in error.fix
    snapshot.verify(["b.bin"])
    with pytest.raises(FactoryError):
        snapshot.verify([entry])


def test_another_size_is_found_without_reading(desk: Desk) -> None:
    snapshot = desk.put("hello")
    rewrite(snapshot.path / "data.txt", b"hell")
    with pytest.raises(FactoryError) as caught:
        snapshot.look()
    assert (caught.value.found, caught.value.expected) == ("4 bytes", "5 bytes")


def test_a_missing_file_is_named(desk: Desk) -> None:
    snapshot = desk.put("hello")
    (snapshot.path / "data.txt").unlink()
    with pytest.raises(FactoryError, match=r"data\.txt is missing") as caught:
        snapshot.verify()
    assert caught.value.code == "missing"


def test_a_file_that_is_not_listed_cannot_be_asked_for(desk: Desk) -> None:
    with pytest.raises(FactoryError, match=r"lists no file 'other\.txt'"):
        desk.put("hello").verify(["other.txt"])


@pytest.mark.parametrize("what", ["file", "directory", "manifest", "snapshot"])
def test_a_symlink_in_the_place_of_anything_is_refused(desk: Desk, tmp_path: Path, what: str) -> None:
    snapshot = desk.put({"in/data.txt": "hello"})
    moved = {
        "file": snapshot.path / "in" / "data.txt",
        "directory": snapshot.path / "in",
        "manifest": snapshot.path / "manifest.json",
        "snapshot": snapshot.path,
    }[what]
    moved.rename(tmp_path / "elsewhere")
    moved.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(FactoryError) as caught:
        desk.ns.resolve(desk.key).verify()
    assert caught.value.code == "escape"
    assert str(moved) in str(caught.value)


@pytest.mark.parametrize("what", ["public", "public/medquad", "public/medquad/clean"])
def test_a_directory_above_it_that_is_swapped_after_it_was_resolved_is_seen(
    desk: Desk, tmp_path: Path, what: str
) -> None:
    snapshot = desk.put("hello")
    moved = desk.ns.root / what
    moved.rename(tmp_path / "elsewhere")
    moved.symlink_to(tmp_path / "elsewhere")
    for read in (snapshot.verify, snapshot.look):
        with pytest.raises(FactoryError) as caught:
            read()
        assert caught.value.code == "escape"
        assert str(moved) in str(caught.value)


@pytest.mark.parametrize("what", ["in/data.txt", "in"])
def test_a_symlink_that_comes_and_goes_while_it_is_verified_never_leads_out(
    desk: Desk, tmp_path: Path, what: str
) -> None:
    """Whatever the moment, what is hashed is the snapshot's own file: the secret has its size and another digest."""
    snapshot = desk.put({"in/data.txt": "hello"})
    secret, own = tmp_path / "secret", snapshot.path / what
    (secret / "in").mkdir(parents=True)
    (secret / "in/data.txt").write_text("crypt")
    done = threading.Event()

    def swap() -> None:
        kept = own.with_name("kept")
        while not done.is_set():
            own.rename(kept)
            own.symlink_to(secret / what)
            own.unlink()
            kept.rename(own)

    thread = threading.Thread(target=swap)
    thread.start()
    codes = set()
    try:
        for _ in range(3000):
            try:
                snapshot.verify()
            except FactoryError as error:
                codes.add(error.code)
    finally:
        done.set()
        thread.join()
    assert codes <= {"escape", "missing"}
    snapshot.verify()


def test_published_files_are_read_only_and_keep_no_other_name(desk: Desk, tmp_path: Path) -> None:
    source = tmp_path / "source.txt"
    source.write_text("from outside")
    with Staging.start(desk.ns, desk.key, "run") as staging:
        os.link(source, staging.path / "data.txt")
        snapshot, _ = staging.seal(kind="files")
    source.write_text("CHANGED LATER")
    snapshot.verify()
    assert source.stat().st_mode & 0o200
    for path in (snapshot.path / "data.txt", snapshot.path / "manifest.json"):
        assert path.stat().st_mode & 0o222 == 0
