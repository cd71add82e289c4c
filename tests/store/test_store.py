from __future__ import annotations

import multiprocessing
import os
import signal
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import timedelta
from pathlib import Path

import pytest

from aifactory.errors import FactoryError
from aifactory.store import Store

fork = multiprocessing.get_context("fork")


def test_the_first_put_wins_and_says_so(tmp_path: Path) -> None:
    store = Store(tmp_path / "a" / "b")
    assert store.names() == []
    assert store.read("x") is None
    assert store.put("x", b"one")
    assert not store.put("x", b"two")
    assert store.read("x") == b"one"
    assert [path.name for path in store.root.iterdir()] == ["x"]
    assert store.root.joinpath("x").stat().st_mode & 0o222 == 0


def test_names_are_sorted_and_filtered_by_prefix_and_by_what_was_seen(tmp_path: Path) -> None:
    store = Store(tmp_path)
    for name in ["b2", "a1", "b1", "b3"]:
        store.put(name, b"")
    (tmp_path / ".hidden").write_bytes(b"")
    assert store.names() == ["a1", "b1", "b2", "b3"]
    assert store.names("b", after="b1") == ["b2", "b3"]


@pytest.mark.parametrize("name", ["", ".", "..", ".tmp-1", "a/b", "/a", "a\0b", "n" * 201])
def test_a_name_that_is_not_one_plain_segment_is_refused(tmp_path: Path, name: str) -> None:
    for act in (lambda: Store(tmp_path).put(name, b""), lambda: Store(tmp_path).read(name)):
        with pytest.raises(FactoryError, match="not a name"):
            act()
    assert list(tmp_path.iterdir()) == []


def test_of_many_processes_that_put_one_name_exactly_one_succeeds(tmp_path: Path) -> None:
    def race(mine: int) -> None:
        barrier.wait()
        won[mine] = Store(tmp_path).put("x", b"%d" % mine * 10_000)

    barrier, won = fork.Barrier(6), fork.Array("b", 6)
    racers = [fork.Process(target=race, args=(i,)) for i in range(6)]
    for racer in racers:
        racer.start()
    for racer in racers:
        racer.join()
    assert sum(won) == 1
    assert Store(tmp_path).read("x") == b"%d" % list(won).index(1) * 10_000
    assert [path.name for path in tmp_path.iterdir()] == ["x"]


def test_a_full_disk_leaves_no_name_and_no_rest(
    small_disk: tuple[Path, Callable[[int], AbstractContextManager[None]]],
) -> None:
    disk, room = small_disk
    store = Store(disk / "store")
    store.put("kept", b"kept")
    with room(8192), pytest.raises(FactoryError) as caught:
        store.put("large", bytes(100_000))
    assert caught.value.code == "disk_full"
    assert str(store.root / "large") in caught.value.what
    assert [path.name for path in store.root.iterdir()] == ["kept"]
    assert store.put("large", bytes(100_000))


def test_a_read_only_place_is_named(tmp_path: Path, read_only: Callable[[Path], AbstractContextManager[None]]) -> None:
    store = Store(tmp_path / "store")
    store.put("kept", b"kept")
    with read_only(store.root):
        with pytest.raises(FactoryError) as caught:
            store.put("new", b"")
        assert store.read("kept") == b"kept"
    assert caught.value.code == "read_only"
    assert str(store.root / "new") in caught.value.what
    assert store.names() == ["kept"]


def test_a_writer_killed_while_it_writes_leaves_nothing_visible_and_is_swept(tmp_path: Path) -> None:
    def write_for_ever() -> None:
        for n in range(10**9):
            Store(tmp_path).put(f"{n:09d}", b"%d" % n * 20_000)

    for wait in range(12):
        writer = fork.Process(target=write_for_ever)
        writer.start()
        time.sleep(0.01 + wait * 0.003)
        os.kill(writer.pid or 0, signal.SIGKILL)
        writer.join()
    store = Store(tmp_path)
    for name in store.names():
        assert store.read(name) == b"%d" % int(name) * 20_000
    assert store.sweep(timedelta(days=1)) == []
    store.sweep(timedelta(0))
    assert sorted(path.name for path in tmp_path.iterdir()) == store.names()
