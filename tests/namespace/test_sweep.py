from __future__ import annotations

import os
import threading
import time
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from aifactory.errors import FactoryError
from aifactory.namespace import Staging, sweep
from aifactory.store import Journal, Record

if TYPE_CHECKING:
    from tests.namespace.conftest import Desk

NOW = timedelta(0)


def age(path: Path, days: float) -> None:
    then = time.time() - days * 86400
    for directory, names, files in path.walk():
        for name in [*names, *files]:
            os.utime(directory / name, (then, then))
    os.utime(path, (then, then))


def test_what_is_old_and_unpublished_goes_and_everything_else_stays(desk: Desk) -> None:
    kept = [desk.put("first"), desk.put("second")]
    red_old, red_young = desk.build("red and old"), desk.build("red and young")
    old = Staging.start(desk.ns, desk.key, "old").path
    young = Staging.start(desk.ns, desk.key, "young").path
    busy = Staging.start(desk.ns, desk.key, "busy").path
    for path in (*(one.path for one in kept), red_old.path, old, busy):
        age(path, 8)
    age(red_young.path, 6)
    (busy / "new.txt").write_text("still writing")
    assert sorted(sweep(desk.ns)) == sorted([old, red_old.path])
    expected = [path.name for path in (kept[0].path, kept[1].path, red_young.path, young, busy)]
    assert desk.names() == sorted([*expected, "@current", "@journal"])
    desk.check(*kept)


def test_a_version_that_was_built_again_is_young_again(desk: Desk) -> None:
    age(desk.build("red").path, 8)
    snapshot = desk.build("red")
    assert sweep(desk.ns, desk.key) == []
    snapshot.verify()


def test_leftovers_of_killed_writers_go(desk: Desk) -> None:
    desk.put("first")
    directory = desk.ns.directory(desk.key)
    left = [directory / "@journal" / ".tmp-1-abc", directory / "@current-0123abcd", directory / "@trash-staging-run-0a"]
    left[0].write_text("{")
    left[1].symlink_to("@0123456789abcdef")
    left[2].mkdir()
    (left[2] / "closed").mkdir(mode=0o555)
    assert sweep(desk.ns) == []
    assert sorted(sweep(desk.ns, older_than=NOW)) == sorted(left)
    assert desk.names() == sorted([desk.ns.resolve(desk.key).path.name, "@current", "@journal"])


def test_a_key_that_was_never_published_is_swept_too(desk: Desk) -> None:
    snapshot = desk.build("red")
    assert sweep(desk.ns, older_than=NOW) == [snapshot.path]
    assert desk.names() == []


def test_what_a_killed_sweeper_took_is_put_back_when_it_was_published(desk: Desk) -> None:
    snapshot = desk.put("first")
    desk.put("second")
    snapshot.path.rename(snapshot.path.with_name(f"@trash-{snapshot.path.name[1:]}-0123abcd"))
    with pytest.raises(FactoryError) as caught:
        desk.ns.resolve(snapshot.name)
    assert caught.value.code == "missing"
    sweep(desk.ns, older_than=NOW)
    desk.ns.resolve(snapshot.name).verify()
    desk.tidy()


def test_a_broken_journal_keeps_its_key_and_others_are_swept(desk: Desk) -> None:
    red = desk.build("red")
    desk.put("first")
    file = desk.ns.directory(desk.key) / "@journal" / "00000001.json"
    file.chmod(0o644)
    file.write_bytes(b"{")
    desk.key = "public/other"
    other = desk.build("red")
    with pytest.raises(FactoryError, match="torn"):
        sweep(desk.ns, older_than=NOW)
    assert red.path.exists()
    assert not other.path.exists()


@pytest.mark.parametrize("returned", [True, False])
def test_a_publisher_sees_that_a_sweeper_took_its_directory(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, returned: bool
) -> None:
    good = desk.put("good")
    snapshot = desk.build("new")
    trash = snapshot.path.with_name(f"@trash-{snapshot.path.name[1:]}-0123abcd")
    append, sweeper = Journal.append, threading.Timer(0.3, lambda: trash.rename(snapshot.path))

    def taken_meanwhile(journal: Journal, body: dict[str, Any], **options: Any) -> Record:
        monkeypatch.setattr(Journal, "append", append)
        snapshot.path.rename(trash)
        if returned:
            sweeper.start()
        else:
            trash.rename(desk.ns.root / "deleted")
        return journal.append(body, **options)

    monkeypatch.setattr(Journal, "append", taken_meanwhile)
    if returned:
        assert desk.publish(snapshot).outcome == "published"
        desk.check(snapshot)
        return
    with pytest.raises(FactoryError, match="vanished while it was being published") as caught:
        desk.publish(snapshot)
    assert caught.value.code == "missing"
    last = desk.publications.current()
    assert last is not None
    assert (last.action, last.version) == ("rollback", good.version)
    assert "swept" in last.why
    assert desk.ns.resolve(desk.key) == good
    assert desk.publish(desk.build("new")).outcome == "published"
    desk.check(snapshot)
