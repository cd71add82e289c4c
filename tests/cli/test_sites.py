"""Sites at the command line."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.cli.conftest import Lab

KEY = "public/letters/clean"


@pytest.fixture
def tree(built: Lab) -> Path:
    """A site of its own, mounted by a cluster, with nothing in it."""
    tree = built.root / "lab-tree"
    tree.mkdir()
    built.write("sites.toml", f'[lab]\nview = "{tree}"\n\n[attic]\n')
    return tree


def copied(lab: Lab, tree: Path) -> Path:
    source = next((lab.namespace / KEY).glob("@????????????????"))
    return Path(shutil.copytree(source, tree / KEY / source.name))


def test_what_is_where_is_listed_and_marked(built: Lab, tree: Path) -> None:
    def states() -> dict[str, tuple[int, ...]]:
        rows = built("sites", "--json").json["sites"]
        return {row["site"]: tuple(row[state] for state in ("present", "absent", "unseen")) for row in rows}

    assert states() == {"here": (2, 0, 0), "lab": (0, 2, 0), "attic": (0, 0, 2)}
    assert built("mark-present", KEY, "--site", "lab").code == 1
    place = copied(built, tree)
    answer = built("mark-present", KEY, "--site", "lab", "--verify")
    assert (answer.code, "by sha256" in answer.out) == (0, True), answer.err
    assert states()["lab"] == (1, 1, 0)
    rows = {row["site"]: row for row in built("sites", KEY, "--json").json}
    assert {site: row["state"] for site, row in rows.items()} == {
        "here": "present",
        "lab": "present",
        "attic": "unseen",
    }
    shown = built("sites").out
    assert "lab-tree" in shown
    next(path for path in place.rglob("*.parquet")).unlink()
    answer = built("sites", KEY)
    assert answer.code == 1
    assert "although it was marked" in answer.out


def test_a_tree_is_marked_at_its_site_without_journals(built: Lab, tree: Path) -> None:
    version = copied(built, tree).name.removeprefix("@")
    empty = str(built.root / "empty")
    answer = built("mark-present", f"{KEY}@{version}", "--site", "lab", "--tree", str(tree), AIFACTORY_ROOT=empty)
    assert answer.code == 0, answer.err
    assert next(row for row in built("sites", KEY, "--json").json if row["site"] == "lab")["state"] == "present"


def test_what_is_wrong_is_said(built: Lab, tree: Path) -> None:
    for arguments, code in (
        (("mark-present", KEY, "--site", "lap"), "unknown_site"),
        (("mark-present", KEY, "--site", "attic"), "site_unseen"),
        (("mark-present", KEY, "--site", "lab"), "data_absent"),
        (("mark-present", "public/letters/nothing", "--site", "lab"), "unpublished"),
        (("mark-present", f"{KEY}@{'0' * 16}", "--site", "lab"), "data_absent"),
        (("sites", "public/letters/nothing"), "unpublished"),
        (("sites", f"{KEY}@{'0' * 16}"), "version"),
    ):
        answer = built(*arguments, "--json")
        assert answer.code != 0
        assert answer.json["error"]["code"] == code, answer.json


def test_a_version_is_read_ahead(built: Lab, tree: Path) -> None:
    answer = built("prefetch", KEY, "--json")
    assert answer.json["bytes"] > 0, answer.err
    assert built("prefetch", KEY, "--site", "lab", "--json").json["error"]["code"] == "data_absent"
    copied(built, tree)
    assert built("mark-present", KEY, "--site", "lab").code == 0
    assert "at the site lab: 1 files" in built("prefetch", KEY, "--site", "lab").out


def test_the_doctor_tells_of_sites_that_nobody_sees_or_described(built: Lab, tree: Path) -> None:
    def finding() -> dict[str, str]:
        return next(one for one in built("doctor", "--json").json["findings"] if one["name"] == "sites")

    assert (finding()["state"], "attic (no view)" in finding()["text"]) == ("warning", True)
    built.write("sites.toml", f'[lab]\nview = "{tree}"\n')
    assert finding()["state"] == "ok"
    from tests.launch.kuberay.cases import example

    built.write("clusters.toml", example().replace('site = "lab"', 'site = "lap"'))
    assert (finding()["state"], finding()["text"]) == (
        "broken",
        "no table in sites.toml: lab mounts the tree of lap",
    )
