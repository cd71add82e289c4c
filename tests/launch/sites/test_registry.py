"""`sites.toml`: what is wrong in it is named."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from aifactory.errors import FactoryError
from aifactory.launch.sites.registry import get_site, load_sites
from aifactory.project import Project

PAGE = Path(__file__).parents[3] / "docs" / "sites.md"


def project(root: Path, text: str | None = None) -> Project:
    if text is not None:
        (root / "sites.toml").write_text(text)
    return replace(Project.current(), root=root, namespace=root / "namespace")


def test_without_a_file_there_is_the_tree_of_whoever_launches(tmp_path: Path) -> None:
    (here,) = load_sites(project(tmp_path)).values()
    assert (here.name, here.view) == ("here", tmp_path / "namespace")


def test_the_example_of_the_page_loads(tmp_path: Path) -> None:
    example = re.search(r"```toml\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert example is not None
    lab = load_sites(project(tmp_path, example[1]))["lab"]
    assert lab.view == Path("/mnt/lab")
    assert "/srv/factory/./public/a/@1 dtn" in lab.copying("public/a/@1")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[lab]\nview = 3", "lab(.|\n)*view"),
        ('[lab]\nview = "lab"', "absolute"),
        ("[lab]\nwait_seconds = -1", "wait_seconds"),
        ('[lab]\ncopy = "rsync all"', "{path}"),
        ('[lab]\nviews = "/mnt"', "views"),
        ('[here]\nview = "/mnt"', "whoever launches"),
        ("lab = 3", "not a table"),
        ("[lab", "not TOML"),
    ],
)
def test_a_wrong_table_is_named(text: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(FactoryError, match=said) as caught:
        load_sites(project(tmp_path, text))
    assert caught.value.code == "sites"


def test_an_unknown_site_is_answered_with_those_that_there_are(tmp_path: Path) -> None:
    with pytest.raises(FactoryError, match="lab") as caught:
        get_site("lap", project(tmp_path, '[lab]\nview = "/mnt/lab"'))
    assert caught.value.code == "unknown_site"
