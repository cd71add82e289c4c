"""Presence at a site: never before every file is there with its size, whatever the copier does."""

from __future__ import annotations

import re
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aifactory.errors import FactoryError
from aifactory.launch.sites.marker import FOLDER, Marker, read_marker
from aifactory.launch.sites.marking import mark
from aifactory.launch.sites.presence import checkpoint_at, snapshot_at
from aifactory.namespace import Namespace, Snapshot
from aifactory.store import canonical, digest
from tests.launch.sites.copies import FILES, begin, copy, names, place, rows, site, whole


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Snapshot:
    return rows(Namespace(tmp_path_factory.mktemp("home")))


def marked(snapshot: Snapshot, tree: Path, name: str = "lab") -> Path:
    mark(name, tree, snapshot.key, snapshot.version, verify=False, writer="test")
    return tree.joinpath(*snapshot.key.segments, FOLDER, f"{snapshot.version[:16]}.json")


def test_a_version_is_absent_then_being_copied_then_unmarked_then_present(snapshot: Snapshot, tmp_path: Path) -> None:
    lab = site(tmp_path)
    assert (snapshot_at(lab, snapshot).state, snapshot_at(lab, snapshot).found) == ("absent", "nothing")
    copy(snapshot, tmp_path, ["train/a.bin", "manifest.json"])
    seen = snapshot_at(lab, snapshot)
    assert (seen.state, seen.found) == ("absent", "1 of 4 files, no marker")
    assert seen.fix.startswith(f"copy public/probe/rows/@{snapshot.version[:16]} to the site lab, then aifactory mark")
    copy(snapshot, tmp_path)
    seen = snapshot_at(lab, snapshot)
    assert (seen.state, seen.found) == ("absent", "4 of 4 files, no marker")
    assert seen.fix == f"aifactory mark-present public/probe/rows@{snapshot.version[:16]} --site lab"
    marked(snapshot, tmp_path)
    assert [snapshot_at(lab, snapshot, check).state for check in ("marker", "sizes", "bytes")] == ["present"] * 3


def test_the_command_that_copies_is_the_site_s_own(snapshot: Snapshot, tmp_path: Path) -> None:
    seen = snapshot_at(site(tmp_path, copy="rsync {path} dtn:"), snapshot)
    assert seen.fix.startswith(f"rsync public/probe/rows/@{snapshot.version[:16]} dtn:, then aifactory mark-present")


WRONG = {
    "torn": lambda data: data[:17],
    "empty": lambda data: b"",
    "a version of 8 digits": lambda data: re.sub(rb'"version":"(.{8})[^"]*"', rb'"version":"\1"', data),
    "no marker": lambda data: b'{"site":"lab"}',
    "a list": lambda data: b"[]",
}


@pytest.mark.parametrize("how", WRONG)
def test_a_marker_that_is_torn_or_no_marker_is_stale(how: str, snapshot: Snapshot, tmp_path: Path) -> None:
    copy(snapshot, tmp_path)
    file = marked(snapshot, tmp_path)
    data = file.read_bytes()
    file.unlink()
    file.write_bytes(WRONG[how](data))
    for check in ("marker", "sizes"):
        seen = snapshot_at(site(tmp_path), snapshot, check)  # type: ignore[arg-type]
        assert seen.state == "stale"
        assert "torn marker" in seen.found
        assert seen.fix.startswith("aifactory mark-present")


@pytest.mark.parametrize(("field", "said"), [("version", "f" * 64), ("site", "attic"), ("key", "public/probe/other")])
def test_a_marker_of_something_else_is_stale_and_said(
    field: str, said: str, snapshot: Snapshot, tmp_path: Path
) -> None:
    copy(snapshot, tmp_path)
    file = marked(snapshot, tmp_path)
    marker = read_marker(tmp_path, snapshot.key, snapshot.version)
    assert isinstance(marker, Marker)
    file.unlink()
    file.write_bytes(canonical(marker.model_copy(update={field: said}).model_dump(mode="json")))
    seen = snapshot_at(site(tmp_path), snapshot)
    assert seen.state == "stale"
    assert said in seen.found


def test_what_changed_after_it_was_marked_is_stale(snapshot: Snapshot, tmp_path: Path) -> None:
    copy(snapshot, tmp_path)
    marked(snapshot, tmp_path)
    flipped = place(snapshot, tmp_path) / "train/a.bin"
    flipped.write_bytes(b"aaab")
    assert snapshot_at(site(tmp_path), snapshot).state == "present"  # sizes alone can't tell
    assert snapshot_at(site(tmp_path), snapshot, "bytes").state == "stale"
    flipped.unlink()
    seen = snapshot_at(site(tmp_path), snapshot)
    assert (seen.state, seen.found) == ("stale", "3 of 4 files, although it was marked")
    flipped.symlink_to(snapshot.path / "train/a.bin")
    assert snapshot_at(site(tmp_path), snapshot).state == "stale"
    shutil.rmtree(place(snapshot, tmp_path))
    place(snapshot, tmp_path).symlink_to(snapshot.path)
    assert snapshot_at(site(tmp_path), snapshot).state == "stale"


def test_where_nobody_can_look_nothing_is_said_to_be_there(snapshot: Snapshot, tmp_path: Path) -> None:
    assert snapshot_at(site(tmp_path, view=None), snapshot).state == "unseen"
    seen = snapshot_at(site(tmp_path / "away"), snapshot)
    assert (seen.state, seen.fix) == ("unseen", f"mount it at {tmp_path / 'away'}")
    assert checkpoint_at(site(tmp_path / "away"), "/factory/public/runs/a/checkpoints/step-00000001", "1").state == (
        "unseen"
    )


def test_only_what_is_whole_is_marked_and_an_older_marker_goes(snapshot: Snapshot, tmp_path: Path) -> None:
    def refused(verify: bool = False) -> str:
        with pytest.raises(FactoryError) as caught:
            mark("lab", tmp_path, snapshot.key, snapshot.version, verify=verify, writer="test")
        assert read_marker(tmp_path, snapshot.key, snapshot.version) is None
        return caught.value.code

    assert refused() == "data_absent"
    copy(snapshot, tmp_path, ["manifest.json"])
    assert refused() == "data_absent"
    copy(snapshot, tmp_path)
    (place(snapshot, tmp_path) / "train/a.bin").write_bytes(b"aaab")
    marked(snapshot, tmp_path)
    assert refused(verify=True) == "integrity"
    copy(snapshot, tmp_path)
    assert mark("lab", tmp_path, snapshot.key, snapshot.version, verify=True, writer="test").checked == "sha256"
    (place(snapshot, tmp_path) / "train/a.bin").unlink()
    assert refused() == "data_absent"
    with pytest.raises(FactoryError) as caught:
        mark("lab", tmp_path, snapshot.key, snapshot.version[:8], verify=False, writer="test")
    assert caught.value.code == "version"


def test_a_checkpoint_is_there_with_its_record_and_all_of_its_files(tmp_path: Path) -> None:
    name = "public/runs/train-tiny-1/checkpoints/step-00000004"
    directory, lab = tmp_path / name, site(tmp_path)
    content = {"format": 1, "step": 4, "files": [{"path": "model/a.bin", "bytes": 4, "sha256": "0" * 64}]}

    def state(version: str = digest(content)) -> tuple[str, str]:
        seen = checkpoint_at(lab, f"/factory/{name}", version)
        return seen.state, seen.found

    assert state() == ("absent", "nothing")
    (directory / "model").mkdir(parents=True)
    (directory / "model/a.bin").write_bytes(b"1234")
    assert state() == ("absent", "no whole checkpoint.json")
    (directory / "checkpoint.json").write_bytes(
        canonical({"content": content, "attempt": 1, "digest": digest(content)})
    )
    assert state() == ("present", "1 file")
    assert state("0" * 64) == ("stale", digest(content))
    (directory / "model/a.bin").write_bytes(b"123")
    assert state() == ("absent", "0 of 1 file")


COPIED = [*sorted(FILES), "manifest.json"]


@settings(max_examples=150, deadline=None)
@given(
    order=st.permutations(COPIED),
    cut=st.integers(0, len(COPIED)),
    torn=st.integers(0, 400),
    brought=st.sampled_from(["none", "attic", "lab"]),
    when=st.integers(0, len(COPIED)),
)
def test_no_order_and_no_cut_makes_it_present_before_it_is_whole(
    snapshot: Snapshot, order: list[str], cut: int, torn: int, brought: str, when: int
) -> None:
    """`cut` files are copied and one more is begun. The copier also brings a marker at any time: another site's, or
    this site's own from before its tree was wiped."""
    assert set(COPIED) == set(names(snapshot))
    with tempfile.TemporaryDirectory() as folder:
        tree, lab = Path(folder), site(Path(folder))
        copy(snapshot, tree)
        marker = marked(snapshot, tree, "attic" if brought == "attic" else "lab")
        data = marker.read_bytes()
        marker.unlink()
        shutil.rmtree(place(snapshot, tree))
        for number, name in enumerate([*order, None][: cut + 1]):
            if number == when and brought != "none":
                marker.write_bytes(data)
            if number < cut and name is not None:
                copy(snapshot, tree, [name])
            elif name is not None:
                begin(snapshot, tree, name, torn)
            says = brought == "lab" and number >= when
            assert snapshot_at(lab, snapshot).whole == (says and whole(snapshot, tree))
        if whole(snapshot, tree):
            marked(snapshot, tree)
        else:
            with pytest.raises(FactoryError):
                marked(snapshot, tree)
        assert snapshot_at(lab, snapshot).whole == whole(snapshot, tree)
