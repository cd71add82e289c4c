"""Sites at the command line."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from aifactory.cli.findings import work
from aifactory.project import Project
from tests.cli.inside import Inside, start
from tests.launch.kuberay.cases import example
from tests.launch.published import BPE, READY


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Inside:
    return start(tmp_path, monkeypatch)


@pytest.fixture
def tree(lab: Inside, tmp_path: Path) -> Path:
    """A site of its own with nothing in it, and one that nobody sees."""
    tree = tmp_path / "lab-tree"
    tree.mkdir()
    lab.lab.write("sites.toml", f'[lab]\nview = "{tree}"\n\n[attic]\n')
    return tree


def copied(lab: Inside, tree: Path, key: str = READY) -> Path:
    source = lab.made[key].path
    return Path(shutil.copytree(source, tree / key / source.name))


def test_what_is_where_is_listed_and_marked(lab: Inside, tree: Path) -> None:
    def states() -> dict[str, tuple[int, ...]]:
        rows = lab("sites", "--json").json["sites"]
        return {row["site"]: tuple(row[state] for state in ("present", "absent", "unseen")) for row in rows}

    assert states() == {"here": (3, 0, 0), "lab": (0, 3, 0), "attic": (0, 0, 3)}
    place = copied(lab, tree)
    answer = lab("mark-present", READY, "--site", "lab", "--verify")
    assert (answer.code, "by sha256" in answer.out) == (0, True), answer.err
    assert states()["lab"] == (1, 2, 0)
    rows = {row["site"]: row["state"] for row in lab("sites", READY, "--json").json}
    assert rows == {"here": "present", "lab": "present", "attic": "unseen"}
    assert "lab-tree" in lab("sites").out
    (place / "train/a.bin").unlink()
    answer = lab("sites", READY)
    assert answer.code == 1
    assert "2 of 3 files, although it was marked" in answer.out


def test_a_tree_is_marked_at_its_site_without_journals(
    lab: Inside, tree: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    name = f"{READY}@{copied(lab, tree).name.removeprefix('@')}"
    with monkeypatch.context() as elsewhere:
        elsewhere.setenv("AIFACTORY_ROOT", str(tmp_path / "empty"))
        answer = lab("mark-present", name, "--site", "lab", "--tree", str(tree))
    assert answer.code == 0, answer.err
    assert {row["site"]: row["state"] for row in lab("sites", READY, "--json").json}["lab"] == "present"


@pytest.mark.parametrize(
    ("arguments", "code", "status"),
    [
        (("mark-present", READY, "--site", "lap"), "unknown_site", 2),
        (("mark-present", READY, "--site", "attic"), "site_unseen", 1),
        (("mark-present", READY, "--site", "lab"), "data_absent", 1),
        (("mark-present", "public/probe/nothing", "--site", "lab"), "unpublished", 2),
        (("mark-present", f"{READY}@{'0' * 16}", "--site", "lab"), "data_absent", 1),
        (("sites", "public/probe/nothing"), "unpublished", 2),
        (("sites", f"{READY}@{'0' * 16}"), "version", 2),
        (("sites", "Public/probe"), "key", 2),
        (("prefetch", READY, "--site", "lab"), "data_absent", 1),
        (("prefetch", READY, "--site", "lap"), "unknown_site", 2),
        (("prefetch", READY, "--part", "dev"), "part", 1),
    ],
)
def test_what_is_wrong_is_said(arguments: tuple[str, ...], code: str, status: int, lab: Inside, tree: Path) -> None:
    answer = lab(*arguments, "--json")
    assert (answer.json["error"]["code"], answer.code) == (code, status)


def test_a_version_is_read_ahead(lab: Inside, tree: Path) -> None:
    assert lab("prefetch", BPE, "--json").json["bytes"] == lab.made[BPE].manifest.bytes
    copied(lab, tree)
    assert lab("mark-present", READY, "--site", "lab").code == 0
    assert "at the site lab: 1 file, 1 B in" in lab("prefetch", READY, "--site", "lab", "--part", "train").out


def test_the_doctor_tells_of_sites_that_nobody_sees_or_described(lab: Inside, tree: Path) -> None:
    def finding() -> tuple[str, str]:
        return next((one.state, one.text) for one in work(Project.current()) if one.name == "sites")

    assert finding() == ("warning", "nobody here sees attic (no view)")
    lab.lab.write("sites.toml", f'[lab]\nview = "{tree}"\n')
    assert finding()[0] == "ok"
    lab.lab.write("clusters.toml", example().replace('site = "lab"', 'site = "lap"'))
    assert finding() == ("broken", "no table in sites.toml: lab mounts the tree of lap")
