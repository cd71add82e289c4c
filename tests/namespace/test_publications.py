from __future__ import annotations

import shutil
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from aifactory.errors import FactoryError
from aifactory.namespace import Audit, Audits, Namespace, Publications, Snapshot
from aifactory.store import Journal

if TYPE_CHECKING:
    from tests.namespace.conftest import Desk


def outcomes(desk: Desk) -> list[tuple[str, str]]:
    return [(one.action, one.version) for one in desk.publications.all()]


def test_a_publication_says_what_made_it_and_moves_current(desk: Desk) -> None:
    first = desk.put("first")
    second = desk.build("second")
    inputs = {"public/medquad/raw": "a" * 64}
    published = desk.publish(second, inputs=inputs, code_version="7", commit="abc", image="data:1", why="merge")
    assert published.outcome == "published"
    own = published.publication
    assert (own.n, own.action, own.version, own.previous) == (2, "publish", second.version, first.version)
    assert (own.inputs, own.code_version, own.commit, own.image, own.why) == (inputs, "7", "abc", "data:1", "merge")
    assert (own.rows, own.bytes, own.writer, own.frozen) == (None, 6, "ann", 1)
    assert desk.publications.current() == desk.publications.last() == own
    assert desk.publications.number() == 2
    assert desk.ns.resolve(desk.key) == second
    link = desk.ns.directory(desk.key) / "@current"
    assert str(link.readlink()) == second.path.name
    assert desk.ns.keys() == [desk.key]


def test_a_reader_keeps_what_it_resolved_while_a_new_one_lands(desk: Desk) -> None:
    reader = desk.put("first")
    held = desk.ns.resolve(desk.key)
    desk.put("second")
    desk.tidy()
    held.verify()
    assert held == reader
    assert desk.ns.resolve(held.name) == held
    assert desk.ns.resolve(desk.key).version != held.version


def test_the_same_build_again_appends_nothing(desk: Desk) -> None:
    snapshot = desk.build("first")
    first = desk.publish(snapshot)
    again = desk.publish(snapshot, run="another")
    assert (first.outcome, again.outcome) == ("published", "unchanged")
    assert again.publication == first.publication
    assert desk.publications.number() == 1


@pytest.mark.parametrize("change", [{"build_key": "another"}, {"checks": ["rows"]}])
def test_the_same_content_from_another_build_or_with_other_checks_is_recorded(
    desk: Desk, change: dict[str, object]
) -> None:
    snapshot = desk.put("first")
    Audits(desk.ns, desk.key, snapshot.version).add(Audit(check="rows", passed=True))
    again = desk.publish(snapshot, **change)
    assert again.outcome == "unchanged"
    assert (again.publication.n, again.publication.previous) == (2, snapshot.version)


def test_an_earlier_build_is_published_again(desk: Desk) -> None:
    first, second = desk.put("first"), desk.put("second")
    found = desk.publications.for_build(f"build of {first.version}")
    assert found is not None
    assert found.version == first.version
    assert desk.publish(first).outcome == "published"
    assert outcomes(desk) == [("publish", one.version) for one in (first, second, first)]
    assert desk.publications.for_build("unknown") is None


def test_a_build_whose_files_are_gone_is_not_reused(desk: Desk) -> None:
    first = desk.put("first")
    desk.put("second")
    (first.path / "data.txt").unlink()
    assert desk.publications.for_build(f"build of {first.version}") is None


def test_a_build_that_lost_to_another_is_superseded_and_names_it(desk: Desk) -> None:
    desk.put("first")
    ours, theirs = desk.build("ours"), desk.build("theirs")
    winner = desk.publish(theirs, frozen=1, writer="bob").publication
    lost = desk.publish(ours, frozen=1)
    assert (lost.outcome, lost.other, lost.publication) == ("superseded", winner, winner)
    assert desk.publications.number() == 2
    assert desk.ns.resolve(desk.key) == theirs
    ours.verify()


def test_of_two_builds_from_one_number_the_later_one_stands_whoever_is_first(desk: Desk) -> None:
    older, newer = datetime(2026, 1, 1, 12, tzinfo=UTC), datetime(2026, 1, 1, 13, tzinfo=UTC)
    for key, order in (("public/a", ("older", "newer")), ("public/b", ("newer", "older"))):
        desk.key = key
        desk.put("first")
        built = {"older": (desk.build("older"), older), "newer": (desk.build("newer"), newer)}
        done = [desk.publish(built[name][0], frozen=1, frozen_at=built[name][1]).outcome for name in order]
        assert done == ["published", "published" if order[1] == "newer" else "superseded"]
        assert desk.ns.resolve(key) == built["newer"][0]


def test_a_build_that_froze_a_later_number_is_published_after_the_other(desk: Desk) -> None:
    times = [datetime(2026, 1, 1, hour, tzinfo=UTC) for hour in range(3)]
    desk.put("first")
    desk.put("older", frozen=1, frozen_at=times[0])
    slow, last = desk.build("newer, and slow"), desk.build("from the second")
    desk.publish(slow, frozen=1, frozen_at=times[1])
    assert desk.publish(last, frozen=2, frozen_at=times[2]).outcome == "published"
    assert [one.frozen for one in desk.publications.all()] == [0, 1, 1, 2]
    desk.check(last)


def test_a_rollback_brings_an_earlier_version_back_with_its_checks(desk: Desk) -> None:
    first, second = desk.build("first"), desk.build("second")
    Audits(desk.ns, desk.key, first.version).add(Audit(check="rows", passed=True))
    desk.publish(first, checks=["rows"], code_version="1")
    desk.publish(second)
    rolled = desk.publications.rollback(first.version[:8], writer="ann", why="labels are wrong")
    assert (rolled.n, rolled.action, rolled.version, rolled.previous) == (3, "rollback", first.version, second.version)
    assert (rolled.why, rolled.writer, rolled.checks, rolled.code_version) == (
        "labels are wrong",
        "ann",
        ("rows",),
        "1",
    )
    assert desk.ns.resolve(desk.key) == first
    desk.check(first)


def test_a_build_from_before_a_rollback_loses_to_it_and_hears_who_and_why(desk: Desk) -> None:
    first, second = desk.put("first"), desk.put("second")
    build = desk.build("third")
    desk.publications.rollback(first.version, writer="ann", why="labels are wrong")
    for snapshot in (build, second, first):
        with pytest.raises(FactoryError) as caught:
            desk.publish(snapshot, frozen=2)
        assert caught.value.code == "rolled_back"
        assert "by ann" in caught.value.what
        assert "labels are wrong" in caught.value.what
    desk.put("fourth", frozen=3)
    with pytest.raises(FactoryError, match="by ann"):
        desk.publish(build, frozen=2)
    desk.check(desk.ns.resolve(desk.key))


def test_a_person_who_builds_after_a_rollback_undoes_it(desk: Desk) -> None:
    first, second = desk.put("first"), desk.put("second")
    desk.publications.rollback(first.version, writer="ann", why="labels are wrong")
    assert desk.publish(second).outcome == "published"
    assert outcomes(desk)[-1] == ("publish", second.version)


@pytest.mark.parametrize(
    ("version", "code", "found"),
    [("f" * 16, "version", "never published"), ("abc", "version", "3 digits"), ("", "version", "0 digits")],
)
def test_a_rollback_to_an_unknown_version_lists_known_ones(desk: Desk, version: str, code: str, found: str) -> None:
    first = desk.put("first")
    desk.put("second")
    with pytest.raises(FactoryError) as caught:
        desk.publications.rollback(version, writer="ann", why="because")
    assert caught.value.code == code
    assert found in str(caught.value.found)
    assert first.version[:16] in str(caught.value.expected)
    assert "aifactory versions" in caught.value.fix


def test_a_rollback_to_what_is_current_names_who_was_first(desk: Desk) -> None:
    first = desk.put("first")
    desk.put("second")
    desk.publications.rollback(first.version, writer="ann", why="labels are wrong")
    with pytest.raises(FactoryError, match="is current already") as caught:
        desk.publications.rollback(first.version, writer="bob", why="labels are wrong")
    assert "rollback by ann" in str(caught.value.found)


@pytest.mark.parametrize(("writer", "why"), [("", "because"), ("ann", "  ")])
def test_a_rollback_says_who_and_why(desk: Desk, writer: str, why: str) -> None:
    first = desk.put("first")
    desk.put("second")
    with pytest.raises(FactoryError) as caught:
        desk.publications.rollback(first.version, writer=writer, why=why)
    assert caught.value.code == "why"
    assert desk.publications.number() == 2


def test_a_rollback_to_files_that_are_gone_is_refused(desk: Desk) -> None:
    first, second = desk.put("first"), desk.put("second")
    shutil.rmtree(first.path)
    with pytest.raises(FactoryError) as caught:
        desk.publications.rollback(first.version, writer="ann", why="because")
    assert caught.value.code == "missing"
    assert desk.ns.resolve(desk.key) == second


@pytest.mark.parametrize("audits", [[], [True, False], [False]])
def test_a_version_whose_blocking_check_is_not_green_is_not_published(desk: Desk, audits: list[bool]) -> None:
    good = desk.put("good")
    snapshot = desk.build("bad")
    book = Audits(desk.ns, desk.key, snapshot.version)
    for passed in audits:
        book.add(Audit(check="rows", passed=passed, counts={"rows": 3}, reason="3 rows, not 4", run="run"))
    with pytest.raises(FactoryError, match="blocking check 'rows'") as caught:
        desk.publish(snapshot, checks=["rows"])
    assert caught.value.code == "red"
    assert ("3 rows, not 4" if audits else "no audit") in str(caught.value.found)
    assert desk.ns.resolve(desk.key) == good


def test_audits_keep_every_result_and_the_newest_counts(desk: Desk) -> None:
    snapshot = desk.build("first")
    audits = Audits(desk.ns, desk.key, snapshot.version)
    assert audits.latest() == {}
    audits.add(Audit(check="rows", passed=False, counts={"rows": 3}), Audit(check="unique", passed=True))
    audits.add(Audit(check="rows", passed=True, counts={"rows": 4}))
    audits.add()
    assert {name: one.passed for name, one in audits.latest().items()} == {"rows": True, "unique": True}
    assert [(one.n, one.audit.check) for one in Audits(desk.ns, desk.key, snapshot.version[:16]).all()] == [
        (1, "rows"),
        (1, "unique"),
        (2, "rows"),
    ]


def test_a_publication_whose_inputs_are_of_another_class_is_refused(desk: Desk) -> None:
    snapshot = desk.build("first")
    with pytest.raises(FactoryError, match="private/a/notes -> public/medquad/clean"):
        desk.publish(snapshot, inputs={"private/a/notes": "a" * 64})
    assert desk.publications.number() == 0


@pytest.mark.parametrize("damage", ["gone", "torn manifest", "shorter file"])
def test_a_damaged_snapshot_is_not_published(desk: Desk, damage: str) -> None:
    snapshot = desk.build("first")
    if damage == "gone":
        shutil.rmtree(snapshot.path)
    else:
        file = snapshot.path / ("manifest.json" if damage == "torn manifest" else "data.txt")
        file.chmod(0o644)
        file.write_bytes(file.read_bytes()[:-3])
    with pytest.raises(FactoryError) as caught:
        desk.publish(snapshot)
    assert caught.value.code in ("missing", "integrity")
    assert desk.publications.number() == 0


def test_a_lost_tail_is_seen_by_current_and_by_a_frozen_number(desk: Desk) -> None:
    desk.put("first")
    second = desk.put("second")
    journal = desk.ns.directory(desk.key) / "@journal"
    (journal / "00000002.json").unlink()
    for act in (desk.publications.all, lambda: desk.ns.resolve(desk.key), lambda: desk.put("third")):
        with pytest.raises(FactoryError, match="lost its tail") as caught:
            act()
        assert caught.value.code == "journal"
        assert second.path.name in str(caught.value)
    (desk.ns.directory(desk.key) / "@current").unlink()
    with pytest.raises(FactoryError, match="lost its tail") as caught:
        desk.publish(second, frozen=2)
    assert (caught.value.found, caught.value.code) == ("1 records", "journal")


@pytest.mark.parametrize("damage", ["torn", "altered", "missing"])
def test_a_damaged_journal_is_named_and_nothing_is_built_on_it(desk: Desk, damage: str) -> None:
    for text in ("first", "second", "third"):
        desk.put(text)
    file = desk.ns.directory(desk.key) / "@journal" / "00000002.json"
    data = file.read_bytes()
    file.unlink()
    if damage != "missing":
        file.write_bytes(data[:50] if damage == "torn" else data.replace(b"ann", b"bob"))
    for act in (lambda: desk.ns.resolve(desk.key), lambda: desk.put("fourth"), desk.publications.current):
        with pytest.raises(FactoryError) as caught:
            act()
        assert caught.value.code == "journal"
        assert str(file) in str(caught.value)


def test_a_record_that_is_no_publication_is_refused(desk: Desk) -> None:
    desk.put("first")
    Journal(desk.ns.directory(desk.key) / "@journal").append({"action": "withdraw"}, writer="newer")
    with pytest.raises(FactoryError, match="record 2, written by newer") as caught:
        desk.publications.all()
    assert caught.value.code == "journal"


def test_current_is_only_a_view(desk: Desk) -> None:
    first, second = desk.put("first"), desk.put("second")
    link = desk.ns.directory(desk.key) / "@current"
    link.unlink()
    assert desk.ns.resolve(desk.key) == second
    link.symlink_to(first.path.name)  # as after a publisher that was killed between the two
    assert desk.ns.resolve(desk.key) == second
    desk.publications.show()
    assert str(link.readlink()) == second.path.name


@pytest.mark.parametrize("target", ["../other/@0123456789abcdef", "/etc", "..", "@staging-run", None])
def test_a_current_that_leaves_its_key_is_refused(desk: Desk, target: str | None) -> None:
    desk.put("first")
    link = desk.ns.directory(desk.key) / "@current"
    link.unlink()
    if target:
        link.symlink_to(target)
    else:
        link.mkdir()
    with pytest.raises(FactoryError) as caught:
        desk.ns.resolve(desk.key)
    assert caught.value.code == "escape"
    assert str(link) in caught.value.what


def test_everything_answers_from_a_copy_of_the_files_alone(desk: Desk, tmp_path: Path) -> None:
    first, second = desk.put("first"), desk.put("second")
    Audits(desk.ns, desk.key, second.version).add(Audit(check="rows", passed=False))
    shutil.copytree(desk.ns.root, tmp_path / "copy", symlinks=True)
    copy = Namespace(tmp_path / "copy")
    assert copy.keys() == desk.ns.keys()
    assert Publications(copy, desk.key).all() == desk.publications.all()
    assert not Audits(copy, desk.key, second.version).latest()["rows"].passed
    Publications(copy, desk.key).rollback(first.version, writer="ann", why="rows are missing")
    restored: Snapshot = copy.resolve(desk.key)
    assert restored.version == first.version
    restored.verify()
