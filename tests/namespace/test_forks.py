"""Roots over each other: which one a key is read from, forks that name what they left, and dropping one."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from aifactory.errors import FactoryError
from aifactory.namespace import Audit, Audits, Namespace, Publications, Snapshot, Staging, sweep
from tests.namespace.conftest import Desk

KEY = "public/medquad/clean"


@pytest.fixture
def lab(tmp_path: Path) -> Desk:
    return Desk(Namespace(tmp_path / "lab"))


@pytest.fixture
def own(tmp_path: Path, lab: Desk) -> Desk:
    return Desk(Namespace(tmp_path / "own", (lab.ns.root,)))


def code(act: Callable[[], object]) -> str:
    with pytest.raises(FactoryError) as caught:
        act()
    return caught.value.code


def tree(root: Path) -> dict[str, object]:
    return {str(path.relative_to(root)): path.lstat().st_mtime_ns for path in sorted(root.rglob("*"))}


def test_a_key_and_a_version_are_read_through(lab: Desk, own: Desk) -> None:
    first, second = lab.put("one"), lab.put("two")
    assert own.ns.resolve(KEY) == second
    assert own.ns.resolve(KEY, first.version).path == first.path
    assert own.ns.resolve(f"{KEY}@{first.version[:8]}") == first
    assert own.ns.keys() == [KEY]
    assert own.publications.number() == 2
    assert not own.ns.root.exists()


def test_the_first_root_whose_journal_has_it_decides(tmp_path: Path, lab: Desk) -> None:
    team = Desk(Namespace(tmp_path / "team"))
    theirs, ours = lab.put("lab"), team.put("team")
    both = Namespace(tmp_path / "own", (team.ns.root, lab.ns.root))
    assert both.resolve(KEY) == ours
    assert both.resolve(KEY, theirs.version).path == theirs.path
    assert Namespace(tmp_path / "own", (lab.ns.root, team.ns.root)).resolve(KEY) == theirs


def test_publishing_over_a_read_only_root_is_a_fork_that_names_what_it_left(lab: Desk, own: Desk) -> None:
    lab.put("one")
    left = lab.put("two")
    before = tree(lab.ns.root)
    mine = own.put("mine")
    (fork,) = own.publications.history().own
    assert fork.left is not None
    assert (fork.left.root, fork.left.n, fork.left.version) == (str(lab.ns.root), 2, left.version)
    assert (fork.n, fork.previous) == (3, left.version)
    assert own.ns.resolve(KEY) == mine
    assert [one.n for one in own.publications.all()] == [1, 2, 3]
    assert lab.ns.resolve(KEY) == left
    assert tree(lab.ns.root) == before
    assert own.put("more").path.parent == own.ns.directory(KEY)
    assert [one.left is None for one in own.publications.all()] == [True, True, False, True]


def test_a_fork_keeps_to_itself_when_the_mount_moves_on(lab: Desk, own: Desk) -> None:
    lab.put("one")
    mine = own.put("mine")
    newer = lab.put("two")
    assert own.ns.resolve(KEY) == mine
    assert own.ns.resolve(KEY, newer.version) == newer
    assert [one.version for one in own.publications.all()][-1] == mine.version
    assert newer.version in {one.version for one in own.publications.everywhere()}


def test_a_fork_is_read_without_the_root_that_it_left(lab: Desk, own: Desk) -> None:
    gone = lab.put("one")
    mine = own.put("mine")
    alone = Namespace(own.ns.root)
    history = Publications(alone, KEY).history()
    assert history is not None
    assert (history.found, [one.n for one in history.records]) == (False, [2])
    assert alone.resolve(KEY) == mine
    assert code(lambda: alone.resolve(KEY, gone.version)) == "version"
    more = Desk(alone).put("more")
    assert own.ns.resolve(KEY) == more
    assert [one.n for one in own.publications.all()] == [1, 2, 3]


def test_a_fork_finds_what_it_left_wherever_it_is_mounted(tmp_path: Path, lab: Desk, own: Desk) -> None:
    lab.put("one")
    own.put("mine")
    lab.ns.root.rename(tmp_path / "elsewhere")
    history = Publications(Namespace(own.ns.root, (tmp_path / "elsewhere",)), KEY).history()
    assert history is not None
    assert history.found


def test_a_fork_of_a_fork(tmp_path: Path, lab: Desk) -> None:
    lab.put("lab")
    team = Desk(Namespace(tmp_path / "team", (lab.ns.root,)))
    team.put("team")
    own = Desk(Namespace(tmp_path / "own", (team.ns.root, lab.ns.root)))
    mine = own.put("own")
    assert [one.n for one in own.publications.all()] == [1, 2, 3]
    left = own.publications.all()[-1].left
    assert left is not None
    assert left.root == str(team.ns.root)
    assert [history.root.name for history in own.publications.histories()] == ["own", "team", "lab"]
    own.check(mine)


def test_a_build_that_the_mount_has_is_published_from_there_without_a_fork(lab: Desk, own: Desk) -> None:
    made = lab.put("one", build_key="k")
    found = own.publications.for_build("k")
    assert found is not None
    assert own.publications.place(found.version) == made.path
    assert own.publish(made, build_key="k").outcome == "unchanged"
    assert not own.ns.root.exists()


def test_an_older_build_of_the_mount_is_current_again_by_a_fork_without_its_bytes(lab: Desk, own: Desk) -> None:
    older = lab.put("one", build_key="k")
    lab.put("two")
    published = own.publish(older, build_key="k")
    assert published.outcome == "published"
    assert own.ns.resolve(KEY).path == older.path
    assert own.names() == ["@journal"]  # no @current that would point to nothing
    own.put("three")
    assert (own.ns.directory(KEY) / "@current").is_symlink()


def test_what_only_the_mounts_later_publications_have_is_reused_too(lab: Desk, own: Desk) -> None:
    lab.put("one")
    own.put("mine")
    newer = lab.put("two", build_key="new")
    found = own.publications.for_build("new")
    assert found is not None
    assert own.publications.place(found.version) == newer.path


def test_a_rollback_over_a_read_only_root_is_a_fork(lab: Desk, own: Desk) -> None:
    first, second = lab.put("one"), lab.put("two")
    done = own.publications.rollback(first.version, writer="ann", why="two is wrong")
    assert done.left is not None
    assert done.left.version == second.version
    assert own.ns.resolve(KEY) == first
    assert lab.ns.resolve(KEY) == second


def test_a_rollback_at_the_lab_wins_over_a_build_that_started_before_it(lab: Desk, own: Desk) -> None:
    first = lab.put("one")
    lab.put("two")
    frozen = own.publications.number()
    mine = own.build("mine")
    lab.publications.rollback(first.version, writer="bob", why="labels are wrong")
    assert code(lambda: own.publish(mine, frozen)) == "rolled_back"
    assert own.ns.resolve(KEY) == first


def test_of_two_builds_that_freeze_before_a_fork_the_second_goes_after_it(lab: Desk, own: Desk) -> None:
    lab.put("one")
    frozen = own.publications.number()
    at = datetime.now(UTC)
    one, two = own.build("a", "a"), own.build("b", "b")
    own.publish(one, frozen, frozen_at=at)
    assert own.publish(two, frozen, frozen_at=at + timedelta(seconds=1)).outcome == "published"
    assert own.publish(own.build("c", "c"), frozen, frozen_at=at).outcome == "superseded"
    assert [one.left is not None for one in own.publications.history().own] == [True, False]


def test_audits_of_both_roots_count_and_new_ones_are_written_in_the_first(lab: Desk, own: Desk) -> None:
    made = lab.build("one")
    Audits(lab.ns, KEY, made.version).add(Audit(check="rows", passed=True))
    lab.publish(made, checks=["rows"])
    before = tree(lab.ns.root)
    Audits(own.ns, KEY, made.version).add(Audit(check="rows", passed=False, reason="found later"))
    Audits(own.ns, KEY, made.version).add(Audit(check="lengths", passed=True))
    assert tree(lab.ns.root) == before
    assert [(one.audit.check, one.audit.passed) for one in Audits(own.ns, KEY, made.version).all()] == [
        ("rows", True),
        ("rows", False),
        ("lengths", True),
    ]
    assert not Audits(own.ns, KEY, made.version).latest()["rows"].passed
    Audits(lab.ns, KEY, made.version).add(Audit(check="rows", passed=True))
    assert Audits(own.ns, KEY, made.version).latest()["rows"].passed


def test_a_damaged_copy_above_does_not_hide_a_whole_one_below(lab: Desk, own: Desk) -> None:
    made = lab.put("one")
    mine = own.put("one", build_key="mine")
    assert mine.path != made.path
    (mine.path / "data.txt").unlink()
    assert own.ns.resolve(KEY).path == made.path
    shutil.rmtree(made.path)
    assert code(lambda: own.ns.resolve(KEY).verify()) == "missing"


# Dropping


def test_a_dropped_fork_is_gone_and_the_key_reads_from_the_mount_again(lab: Desk, own: Desk) -> None:
    first = lab.put("one")
    mine = own.put("mine")
    newest = lab.put("two")
    back = own.publications.drop(writer="ann", why="the lab's is better")
    assert back.version == newest.version
    assert own.ns.resolve(KEY) == newest
    assert [one.version for one in own.publications.all()] == [first.version, newest.version]
    assert code(lambda: own.ns.resolve(KEY, mine.version)) == "version"
    assert own.publications.for_build(f"build of {mine.version}") is None
    assert "@current" not in own.names()


def test_after_a_drop_a_new_fork_starts_from_what_the_mount_says_then(lab: Desk, own: Desk) -> None:
    lab.put("one")
    mine = own.put("mine")
    lab.put("two")
    own.publications.drop(writer="ann", why="again")
    assert own.publish(mine).outcome == "published"
    (fork,) = own.publications.history().own
    assert fork.left is not None
    assert (fork.left.n, fork.n) == (2, 3)
    own.check(mine)


@pytest.mark.parametrize("what", ["nothing here", "nothing below", "dropped already", "no mount"])
def test_what_is_no_fork_is_not_dropped(lab: Desk, own: Desk, what: str) -> None:
    desk = own
    if what == "nothing here":
        lab.put("one")
    elif what == "nothing below":
        own.put("mine")
    elif what == "dropped already":
        lab.put("one")
        own.put("mine")
        own.publications.drop(writer="ann", why="x")
    else:
        desk = lab
        lab.put("one")
    before = tree(desk.ns.root)
    assert code(lambda: desk.publications.drop(writer="ann", why="because")) == "no_fork"
    assert tree(desk.ns.root) == before


def test_a_drop_needs_a_reason(lab: Desk, own: Desk) -> None:
    lab.put("one")
    own.put("mine")
    assert code(lambda: own.publications.drop(writer="ann", why=" ")) == "why"


def test_a_key_that_was_published_before_the_mount_came_is_dropped_too(lab: Desk, own: Desk) -> None:
    mine = Desk(Namespace(own.ns.root)).put("mine")
    theirs = lab.put("theirs")
    assert own.ns.resolve(KEY) == mine
    own.publications.drop(writer="ann", why="the lab has it now")
    assert own.ns.resolve(KEY) == theirs


def test_a_build_that_started_on_a_dropped_fork_loses(lab: Desk, own: Desk) -> None:
    lab.put("one")
    own.put("mine")
    frozen, at = own.publications.number(), datetime.now(UTC)
    late = own.build("late")
    own.publications.drop(writer="ann", why="wrong branch")
    for fields in ({"frozen_at": at}, {}):
        with pytest.raises(FactoryError) as caught:
            own.publish(late, frozen, **fields)
        assert caught.value.code == "rolled_back"
        assert "wrong branch" in caught.value.what
    assert own.publish(late, own.publications.number(), frozen_at=datetime.now(UTC)).outcome == "published"


def test_a_drop_leaves_the_bytes_for_a_week(lab: Desk, own: Desk) -> None:
    lab.put("one")
    mine = own.put("mine")
    week = timedelta(days=7)
    old = time.time() - 2 * week.total_seconds()
    os.utime(mine.path, (old, old))
    own.publications.drop(writer="ann", why="x")
    assert sweep(own.ns, older_than=week) == []
    assert sweep(own.ns, older_than=timedelta(0)) == [mine.path]


def test_the_sweeper_never_touches_another_root(lab: Desk, own: Desk) -> None:
    lab.put("one")
    lab.build("unpublished")
    Staging.start(lab.ns, KEY, "left")
    before = tree(lab.ns.root)
    own.build("mine")
    swept = sweep(own.ns, older_than=timedelta(0))
    assert [path.is_relative_to(own.ns.root) for path in swept] == [True]
    assert tree(lab.ns.root) == before
    assert own.ns.places() == []


def test_what_is_published_below_is_not_swept_above(lab: Desk, own: Desk) -> None:
    lab.put("one")
    copy = own.build("one")
    assert sweep(own.ns, older_than=timedelta(0)) == []
    assert copy.path.is_dir()


def test_everything_works_over_a_root_that_really_is_read_only(
    lab: Desk, own: Desk, read_only: Callable[[Path], AbstractContextManager[None]]
) -> None:
    own.ns.root.mkdir(mode=0o777)
    own.ns.root.chmod(0o777)
    first = lab.put("one", build_key="k")
    with read_only(lab.ns.root):
        assert code(lambda: lab.put("no")) == "read_only"
        own.ns.resolve(KEY).verify()
        assert own.publish(first, build_key="k").outcome == "unchanged"
        Audits(own.ns, KEY, first.version).add(Audit(check="rows", passed=True))
        mine = own.put("mine")
        own.check(mine)
        assert sweep(own.ns, older_than=timedelta(0)) == []
        own.publications.drop(writer="ann", why="x")
        assert own.ns.resolve(KEY) == first


def test_a_write_into_another_root_is_refused_naming_both(lab: Desk, own: Desk) -> None:
    with pytest.raises(FactoryError) as caught:
        own.ns.writable(lab.ns.root / "public/runs/x")
    assert caught.value.code == "read_only"
    assert str(lab.ns.root) in str(caught.value.found)
    assert str(own.ns.root) in str(caught.value.expected)
    assert own.ns.writable(own.ns.root / "public/runs/x")


def test_a_torn_record_below_is_seen_where_it_is_read(lab: Desk, own: Desk) -> None:
    lab.put("one")
    (lab.ns.directory(KEY) / "@journal" / "00000001.json").chmod(0o644)
    (lab.ns.directory(KEY) / "@journal" / "00000001.json").write_text("torn")
    assert code(lambda: own.ns.resolve(KEY)) == "journal"
    mine = Desk(Namespace(own.ns.root)).put("mine")
    assert own.ns.resolve(KEY) == mine  # it left nothing, so nothing below is read


def test_a_root_below_that_lost_what_a_fork_left(lab: Desk, own: Desk) -> None:
    lab.put("one")
    mine = own.put("mine")
    shutil.rmtree(lab.ns.root / "public")
    lab.put("another history")
    history = own.publications.history()
    assert history is not None
    assert not history.found
    assert own.ns.resolve(KEY) == mine


# Names


def test_local_paths_of_any_root_have_one_canonical_name(lab: Desk, own: Desk) -> None:
    made = lab.put("one")
    name = f"/factory/{KEY}/{made.path.name}"
    assert own.ns.canonical(made.path) == name
    assert own.ns.local(name) == made.path
    assert own.ns.canonical(lab.ns.directory(KEY) / "@current") == name
    for text in (KEY, f"/factory/{KEY}", str(lab.ns.directory(KEY)), str(own.ns.directory(KEY))):
        assert own.ns.resolve(text) == made
    for text in (name, str(made.path), f"{KEY}@{made.version}", f"{KEY}@{made.version[:12]}"):
        assert own.ns.named(text)[0] == KEY
        assert own.ns.resolve(text) == made
    assert own.ns.local("/factory/public/nothing") == own.ns.root / "public/nothing"
    assert code(lambda: own.ns.local("")) == "key"
    assert code(lambda: own.ns.canonical("/etc/passwd")) == "escape"
    assert code(lambda: own.ns.resolve("/etc/passwd")) == "escape"


def test_a_symlink_below_is_no_way_out(lab: Desk, own: Desk, tmp_path: Path) -> None:
    lab.put("one")
    (tmp_path / "secret").mkdir()
    (lab.ns.root / "public" / "other").symlink_to(tmp_path / "secret")
    assert code(lambda: own.ns.resolve("public/other")) == "escape"
    assert own.ns.keys() == [KEY]


# Races


def _publish(own: Path, lab: Path, barrier, n: int) -> None:  # type: ignore[no-untyped-def]
    desk = Desk(Namespace(own, (lab,)))
    frozen = desk.publications.number()
    made = desk.build(f"text {n}", f"run{n}")
    barrier.wait()
    desk.publish(made, frozen, run=f"run{n}", frozen_at=datetime.now(UTC))


def _drop(own: Path, lab: Path, barrier, n: int) -> None:  # type: ignore[no-untyped-def]
    desk = Desk(Namespace(own, (lab,)))
    barrier.wait()
    for _ in range(5):
        with suppress(FactoryError):
            desk.publications.drop(writer=f"dropper{n}", why="race")


def test_many_publish_over_a_read_only_root_at_once_and_make_one_fork(lab: Desk, own: Desk) -> None:
    lab.put("one")
    _race(own, lab, [_publish] * 6)
    records = own.publications.history().own
    assert [one.left is not None for one in records] == [True] + [False] * (len(records) - 1)
    assert [one.n for one in own.publications.all()] == list(range(1, len(records) + 2))
    own.ns.resolve(KEY).verify()


def _publish_at_the_lab(own: Path, lab: Path, barrier, n: int) -> None:  # type: ignore[no-untyped-def]
    desk = Desk(Namespace(lab))
    barrier.wait()
    for text in "abcd":
        desk.put(f"lab {n} {text}")


def test_a_fork_that_begins_while_the_lab_publishes_left_something_that_the_lab_has(lab: Desk, own: Desk) -> None:
    lab.put("one")
    _race(own, lab, [_publish_at_the_lab, _publish, _publish])
    history = own.publications.history()
    assert history is not None
    assert history.found
    left = history.left
    assert left is not None
    assert lab.publications.all()[left.n - 1].sha256 == left.sha256
    assert [one.n for one in history.records] == list(range(1, len(history.records) + 1))


def test_publishers_and_droppers_at_once_leave_a_fork_or_none(lab: Desk, own: Desk) -> None:
    first = lab.put("one")
    own.put("mine")
    for _ in range(3):
        _race(own, lab, [_publish, _publish, _drop, _drop], allowed=(0, 1))
        history = own.publications.history()
        assert history is not None
        if history.root == lab.ns.root:
            assert own.ns.resolve(KEY) == first
            assert "@current" not in own.names()
        else:
            assert history.own[0].left is not None
            assert all(one.left is None for one in history.own[1:])
            assert (own.ns.directory(KEY) / "@current").resolve() == own.ns.resolve(KEY).path
        own.ns.resolve(KEY).verify()


def test_of_many_that_drop_at_once_one_does(lab: Desk, own: Desk) -> None:
    lab.put("one")
    own.put("mine")
    _race(own, lab, [_drop] * 6)
    assert len(own.publications.drops()) == 1


def _race(own: Desk, lab: Desk, acts: list[Callable[..., None]], allowed: tuple[int, ...] = (0,)) -> None:
    context = multiprocessing.get_context("fork")
    barrier = context.Barrier(len(acts))
    running = [context.Process(target=act, args=(own.ns.root, lab.ns.root, barrier, n)) for n, act in enumerate(acts)]
    for one in running:
        one.start()
    for one in running:
        one.join(30)
    assert all(one.exitcode in allowed for one in running)


def test_a_snapshot_is_loaded_from_where_it_is(lab: Desk, own: Desk) -> None:
    made = lab.put("one")
    assert own.publications.snapshot(made.version) == Snapshot.load(made.key, made.path)
