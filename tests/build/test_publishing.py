"""Write, audit, publish; reuse; rollbacks; checks alone."""

from __future__ import annotations

from collections.abc import Callable

from aifactory.namespace import Audits, Publications
from tests.build.lab import Lab, rows_stage

KEY = "public/words/clean"
GOOD = "for n, line in enumerate(raw.read_text().split()):\n    yield Row(n, line)"


def test_a_red_check_keeps_the_last_good_version_current(lab: Lab, good: Callable) -> None:
    lab.write(rows_stage(GOOD, checks="rows(3)"))
    good("public/words/raw")
    first = good(KEY).built
    lab.write(rows_stage(GOOD + '\nyield Row(9, "more")', checks="rows(3)"))
    red = lab.build(KEY)
    assert red.error is not None
    assert (red.error.code, red.built.outcome) == ("red_checks", "red")
    assert "rows: 4 rows, expected 3" in str(red.error)
    assert red.built.version != first.version
    assert not red.audits["rows"].passed
    assert red.audits["files"].passed
    assert lab.current(KEY).version == first.version
    recorded = Audits(lab.ns, KEY, red.built.version).latest()
    assert not recorded["rows"].passed
    assert recorded["rows"].counts == {"rows": 4, "min": 3, "max": 3}


def test_a_check_that_does_not_block_is_red_and_published(lab: Lab, good: Callable) -> None:
    lab.write(rows_stage(GOOD, checks="rows(5).warning()"))
    good("public/words/raw")
    told = good(KEY)
    assert told.built.outcome == "published"
    assert not told.audits["rows"].passed
    assert "rows" not in Publications(lab.ns, KEY).all()[-1].checks
    assert "files" in Publications(lab.ns, KEY).all()[-1].checks


def test_an_empty_dataset_is_red(lab: Lab, good: Callable) -> None:
    lab.write(rows_stage("yield from ()"))
    good("public/words/raw")
    told = lab.build(KEY)
    assert told.error is not None
    assert "not_empty" in str(told.error)
    assert lab.published(KEY) == []


def test_a_check_that_raises_is_red_with_its_text(lab: Lab, good: Callable) -> None:
    checks = """
        import pyarrow as pa
        from aifactory.datasets import check
        @check
        def broken(table: pa.Table) -> bool:
            raise ValueError("it broke at " + table["text"][0].as_py())
    """
    lab.write(rows_stage(GOOD, checks="broken()") | {"checks/words.py": checks})
    path = lab.root / "assets/public/words.py"
    path.write_text(
        path.read_text().replace("import pyarrow as pa", "import pyarrow as pa\nfrom checks.words import broken")
    )
    good("public/words/raw")
    told = lab.build(KEY)
    assert told.audits["broken"].reason == "the check raised ValueError: it broke at a"
    assert "broken" in str(told.error)


def test_the_same_build_is_never_made_twice(lab: Lab, good: Callable) -> None:
    lab.write(rows_stage("Path(r'" + str(lab.root) + "/ran').open('a').write('x')\n" + GOOD, checks="rows(3)"))
    good("public/words/raw")
    first = good(KEY).built
    again = good(KEY)
    assert (again.built.outcome, again.built.version) == ("reused", first.version)
    assert again.built.rows == 3
    assert again.built.metadata["preview"][0] == {"id": 0, "text": "a"}
    assert again.audits == {}
    assert (lab.root / "ran").read_text() == "x"
    assert len(lab.published(KEY)) == 1


def test_a_comment_builds_nothing_and_a_new_input_does(lab: Lab, good: Callable) -> None:
    lab.write(rows_stage(GOOD))
    good("public/words/raw")
    good(KEY)
    path = lab.root / "assets/public/words.py"
    path.write_text("# a comment\n" + path.read_text())
    assert good(KEY).built.outcome == "reused"
    (lab.root / "assets/public/words.txt").write_text("a\nb\nc\nd\n")
    good("public/words/raw")
    told = good(KEY).built
    assert (told.outcome, told.rows) == ("published", 4)


def test_a_check_that_was_added_is_run_on_what_is_there(lab: Lab, good: Callable) -> None:
    lab.write(rows_stage(GOOD))
    good("public/words/raw")
    good(KEY)
    lab.write(rows_stage(GOOD, checks="rows(3), unique('id')"))
    added = good(KEY)
    assert (added.built.outcome, set(added.audits)) == ("reused", {"rows", "unique_id"})
    assert set(Publications(lab.ns, KEY).all()[-1].checks) >= {"rows", "unique_id"}
    lab.write(rows_stage(GOOD, checks="rows(4), unique('id')"))
    red = lab.build(KEY)
    assert set(red.audits) == {"rows"}
    assert (red.built.outcome, red.error.code) == ("red", "red_checks")


def test_the_same_rows_by_other_code_are_the_same_version(lab: Lab, good: Callable) -> None:
    lab.write(rows_stage(GOOD))
    good("public/words/raw")
    first = good(KEY).built
    lab.write(rows_stage("lines = raw.read_text().split()\nyield from (Row(n, line) for n, line in enumerate(lines))"))
    second = good(KEY).built
    assert (second.outcome, second.version) == ("unchanged", first.version)
    assert second.code_version != first.code_version
    assert len(lab.published(KEY)) == 2


def test_after_a_rollback_a_person_gets_it_published_again_and_automation_does_not(lab: Lab, good: Callable) -> None:
    lab.write(rows_stage(GOOD))
    good("public/words/raw")
    first = good(KEY).built
    lab.write(rows_stage(GOOD.replace("Row(n, line)", "Row(n + 1, line)")))
    second = good(KEY).built
    Publications(lab.ns, KEY).rollback(first.version, writer="person:ada", why="labels are wrong")
    refused = lab.build(KEY, requester="automation")
    assert refused.error.code == "rolled_back"
    assert "ada" in str(refused.error)
    assert "labels are wrong" in str(refused.error)
    assert lab.current(KEY).version == first.version
    told = good(KEY, requester="person:ada").built
    assert (told.outcome, told.version) == ("reused", second.version)
    assert lab.current(KEY).version == second.version


def test_a_build_that_was_frozen_before_a_rollback_loses_to_it(lab: Lab, good: Callable) -> None:
    lab.write(rows_stage(GOOD))
    good("public/words/raw")
    first = good(KEY).built
    lab.write(rows_stage(GOOD.replace("Row(n, line)", "Row(n + 1, line)")))
    good(KEY)
    Publications(lab.ns, KEY).rollback(first.version, writer="person:ada", why="labels are wrong")
    lab.write(rows_stage(GOOD.replace("Row(n, line)", "Row(n + 2, line)")))
    lost = lab.build(KEY, frozen=2)
    assert lost.error.code == "rolled_back"
    assert lab.current(KEY).version == first.version


def test_checks_can_be_run_alone_on_the_current_version(lab: Lab, good: Callable) -> None:
    lab.write(rows_stage(GOOD, checks="rows(3)"))
    good("public/words/raw")
    version = good(KEY).built.version
    alone = lab.check(KEY, "rows", "files")
    assert alone.error is None
    assert {name: (audit.passed, audit.version) for name, audit in alone.audits.items()} == {
        "rows": (True, version),
        "files": (True, version),
    }
    lab.write(rows_stage(GOOD, checks="rows(4)"))
    red = lab.check(KEY, "rows")
    assert red.error.code == "red_checks"
    assert not Audits(lab.ns, KEY, version).latest()["rows"].passed
    assert lab.published(KEY) == [version]


def test_the_image_must_hold_the_code_that_was_planned(lab: Lab, good: Callable) -> None:
    lab.write(rows_stage(GOOD))
    good("public/words/raw")
    spec = lab.spec(lab.stages()[KEY])
    lab.write(rows_stage(GOOD + "\nyield Row(9, 'more')"))
    lab.stages()
    assert lab.run(lab.job(spec)).error.code == "code_version"
    lab.write({"assets/public/words.py": "from aifactory.datasets import source\nraw = source(file='words.txt')"})
    lab.stages()
    assert lab.run(lab.job(spec)).error.code == "no_stage"


def test_a_version_set_by_hand_says_so_when_the_code_moved(lab: Lab, good: Callable) -> None:
    lab.write(rows_stage(GOOD))
    path = lab.root / "assets/public/words.py"
    path.write_text(path.read_text().replace("checks=[]", "code_version='1'"))
    good("public/words/raw")
    assert good(KEY).notes == []
    path.write_text(path.read_text().replace("Row(n, line)", "Row(n, line + '!')"))
    told = good(KEY)
    assert told.built.outcome == "reused"
    assert "the code moved" in told.notes[0]
