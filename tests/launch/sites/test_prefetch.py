"""Reading ahead: every byte once, in order, and nothing that is damaged passes."""

from __future__ import annotations

from pathlib import Path

import pytest

from aifactory.errors import FactoryError
from aifactory.launch import launch
from aifactory.launch.backend import Interrupted
from aifactory.launch.sites.ahead import read_ahead
from aifactory.launch.sites.marking import mark
from aifactory.launch.sites.prefetch import Progress, of_snapshot, read
from aifactory.launch.sites.registry import Site
from aifactory.namespace import Namespace, Snapshot
from tests.launch.lab import Lab
from tests.launch.published import publish
from tests.launch.sites.copies import FILES, KEY, copy, place, rows, site


@pytest.fixture
def snapshot(tmp_path: Path) -> Snapshot:
    return rows(Namespace(tmp_path / "home"))


@pytest.fixture
def lab_site(tmp_path: Path, snapshot: Snapshot) -> Site:
    """A site that has the snapshot."""
    copy(snapshot, tmp_path / "lab")
    mark("lab", tmp_path / "lab", snapshot.key, snapshot.version, verify=True, writer="test")
    return site(tmp_path / "lab")


def test_every_byte_of_a_part_is_read_once_and_told(snapshot: Snapshot, lab_site: Site) -> None:
    counts: list[int] = []
    assert read(of_snapshot(lab_site, snapshot), counts.append) == sum(counts) == sum(map(len, FILES.values()))
    assert read(of_snapshot(lab_site, snapshot, "train")) == 6
    with pytest.raises(FactoryError) as caught:
        of_snapshot(site(lab_site.view or Path(), "lab"), snapshot, "dev")
    assert caught.value.code == "part"


@pytest.mark.parametrize("private", [False, True])
def test_damage_is_found_and_names_no_file_of_private_data(private: bool, tmp_path: Path) -> None:
    one = rows(Namespace(tmp_path / "home"), "private/clinic/rows" if private else KEY)
    copy(one, tmp_path / "lab")
    (place(one, tmp_path / "lab") / "train/a.bin").write_bytes(b"aaab")
    mark("lab", tmp_path / "lab", one.key, one.version, verify=False, writer="test")
    with pytest.raises(FactoryError) as caught:
        read(of_snapshot(site(tmp_path / "lab"), one))
    assert caught.value.code == "data_stale"
    assert ("train/a.bin" in str(caught.value)) != private


def test_a_file_that_goes_away_under_the_reader_or_becomes_a_symlink_is_damage(
    snapshot: Snapshot, lab_site: Site, tmp_path: Path
) -> None:
    what = of_snapshot(lab_site, snapshot)
    file = place(snapshot, tmp_path / "lab") / "train/a.bin"
    file.unlink()
    for again in (False, True):
        if again:
            file.symlink_to(snapshot.path / "train/a.bin")
        with pytest.raises(FactoryError) as caught:
            read(what)
        assert caught.value.code == "data_stale"


def test_what_is_not_whole_is_not_read(snapshot: Snapshot, lab_site: Site, tmp_path: Path) -> None:
    (place(snapshot, tmp_path / "lab") / "train/a.bin").unlink()
    codes = []
    for where in (lab_site, site(tmp_path / "away"), site(tmp_path / "lab", view=None), site(tmp_path, "attic")):
        with pytest.raises(FactoryError) as caught:
            of_snapshot(where, snapshot)
        codes.append(caught.value.code)
    assert codes == ["data_stale", "site_unseen", "site_unseen", "data_absent"]


def test_progress_is_said_now_and_then_and_asks_whether_to_go_on(snapshot: Snapshot, lab_site: Site) -> None:
    said: list[str] = []
    what = of_snapshot(lab_site, snapshot)
    read(what, Progress([what], said.append, every=0.0))
    assert len(said) == 3  # an empty file has no chunk
    assert said[-1].startswith("prefetch: read 0.0 of 0.0 MB")
    read(what, Progress([what], said.append, every=60.0))
    assert len(said) == 3


def test_a_launch_that_asks_for_it_reads_what_it_reads_first(lab: Lab) -> None:
    data = publish(lab.ns, KEY, "tokens", FILES)
    said: list[str] = []
    planned = lab.plan("say", inputs=[("rows", KEY, data.version)], context={"prefetch": True, "site": "here"})
    result = launch(planned, run="build-say-1", on_change=said.append, project=lab.project, ns=lab.ns)
    assert result.succeeded
    assert said[0].startswith("prefetch at the site here: read 0.0 of 0.0 MB")
    with pytest.raises(Interrupted):
        read_ahead(planned, ns=lab.ns, project=lab.project, say=said.append, stop=lambda: "stop")
    file = data.path / "train/a.bin"
    file.chmod(0o644)
    file.write_bytes(b"aaab")
    with pytest.raises(FactoryError) as caught:
        launch(planned, run="build-say-2", project=lab.project, ns=lab.ns)
    assert caught.value.code == "data_stale"
