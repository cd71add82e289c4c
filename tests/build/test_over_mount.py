"""Builds over a read-only root: reuse, forks, and what a drop means to automation."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from aifactory.namespace import Audits, Namespace, Publications
from tests.build.lab import Lab, rows_stage

RAW, KEY = "public/words/raw", "public/words/clean"
GOOD = "for n, line in enumerate(raw.read_text().split()):\n    yield Row(n, line)"
OTHER = "for n, line in enumerate(raw.read_text().split()):\n    yield Row(n, line.upper())"


@pytest.fixture
def mount(lab: Lab, good: Callable, tmp_path: Path) -> Namespace:
    """What the lab built; from here on `lab` builds in a root of its own over it."""
    lab.write(rows_stage(GOOD, checks="rows(3)"))
    good(RAW)
    good(KEY)
    there = lab.ns
    lab.ns = Namespace(tmp_path / "own", (there.root,))
    return there


def tree(ns: Namespace) -> dict[str, int]:
    return {str(path): path.lstat().st_mtime_ns for path in ns.root.rglob("*")}


def test_what_the_lab_built_is_not_built_again(lab: Lab, good: Callable, mount: Namespace) -> None:
    before = tree(mount)
    for key in (RAW, KEY):
        assert good(key).built.outcome == "reused"
        assert Publications(lab.ns, key).directory.exists() is False
    assert tree(mount) == before


def test_a_new_check_is_asked_here_and_its_audit_is_kept_here(lab: Lab, good: Callable, mount: Namespace) -> None:
    before = tree(mount)
    lab.write(rows_stage(GOOD, checks="rows(3), unique('id')"))
    told = good(KEY)
    assert told.built.outcome == "reused"
    assert [name.startswith("unique") for name in told.audits] == [True]
    (fork,) = Publications(lab.ns, KEY).history().own  # type: ignore[union-attr]
    assert fork.left is not None
    assert fork.version == mount.resolve(KEY).version
    assert lab.ns.resolve(KEY).path == mount.resolve(KEY).path
    names = set(Audits(lab.ns, KEY, fork.version).latest())
    assert names > set(Audits(mount, KEY, fork.version).latest())
    assert tree(mount) == before


def test_other_code_is_a_fork_and_its_inputs_are_the_labs(lab: Lab, good: Callable, mount: Namespace) -> None:
    before = tree(mount)
    lab.write(rows_stage(OTHER, checks="rows(3)"))
    told = good(KEY)
    assert told.built.outcome == "published"
    assert told.built.publication == 2
    assert told.built.previous == mount.resolve(KEY).version
    assert told.built.inputs == {RAW: mount.resolve(RAW).version}
    assert lab.current(KEY).path.is_relative_to(lab.ns.root)
    lab.write(rows_stage(GOOD, checks="rows(3)"))
    assert good(KEY).built.outcome == "reused"
    assert lab.current(KEY).path == mount.resolve(KEY).path
    assert tree(mount) == before


def test_automation_does_not_build_a_dropped_fork_again_and_a_person_does(
    lab: Lab, good: Callable, mount: Namespace
) -> None:
    lab.write(rows_stage(OTHER, checks="rows(3)"))
    good(KEY)
    Publications(lab.ns, KEY).drop(writer="ann", why="the lab's is better")
    told = lab.build(KEY, requester="automation")
    assert told.error is not None
    assert told.error.code == "rolled_back"
    assert "the lab's is better" in told.error.what
    assert lab.current(KEY).version == mount.resolve(KEY).version
    assert good(KEY).built.outcome == "published"
    lab.write(rows_stage(OTHER + "\nyield Row(9, 'more')", checks="rows(4)"))
    assert lab.build(KEY, requester="automation").error is None  # another build was never dropped


def test_a_version_set_by_hand_is_compared_with_what_the_lab_first_built(lab: Lab, good: Callable, mount) -> None:
    lab.ns = mount
    text = rows_stage(GOOD)["assets/public/words.py"].replace("@dataset(checks=[])", "@dataset(code_version='1')")
    lab.write({"assets/public/words.py": text})
    good(KEY)
    lab.ns = Namespace(lab.root.parent / "own", (mount.root,))
    lab.write({"assets/public/words.py": text.replace("yield Row(n, line)", "yield Row(n, line * 2)")})
    told = good(KEY)
    assert any("the code moved" in note for note in told.notes)
    assert not list(lab.ns.root.rglob("@sources"))
