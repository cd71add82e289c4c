"""Grants as the project's pyproject.toml writes them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from aifactory.errors import FactoryError
from aifactory.namespace import Grant, load_grants
from aifactory.project import Project

GOOD = '[[tool.aifactory.grants]]\nfrom = "private/clinic"\nto = "private/oncology"\nwhy = "board, 2026-03-02"\n'


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Two projects: one with a folder of datasets, one with a file; and a third that only has data."""
    (tmp_path / "assets/private/clinic").mkdir(parents=True)
    (tmp_path / "assets/private/oncology.py").write_text("")
    (tmp_path / "namespace/private/cardio/notes").mkdir(parents=True)
    return replace(Project.current(), root=tmp_path, namespace=tmp_path / "namespace")


def refused(project: Project, text: str) -> FactoryError:
    (project.root / "pyproject.toml").write_text(text)
    with pytest.raises(FactoryError) as caught:
        load_grants(project)
    assert "pyproject.toml" in str(caught.value)
    assert caught.value.fix
    return caught.value


def test_grants_are_read_in_order(project: Project) -> None:
    assert load_grants(project) == ()
    more = GOOD.replace("clinic", "cardio")
    (project.root / "pyproject.toml").write_text("[project]\nname = 'lab'\n" + GOOD + more)
    assert load_grants(project) == (
        Grant("private/clinic", "private/oncology", "board, 2026-03-02"),
        Grant("private/cardio", "private/oncology", "board, 2026-03-02"),
    )


def test_the_file_of_this_project_is_read() -> None:
    assert load_grants(Project.current()) == ()


@pytest.mark.parametrize("field", ["from", "to"])
def test_a_grant_for_an_unknown_project_names_close_ones(project: Project, field: str) -> None:
    wrong = {"from": GOOD.replace("clinic", "clinics"), "to": GOOD.replace("oncology", "oncologie")}[field]
    error = refused(project, wrong)
    assert error.code == "grants"
    assert f"grant 1: {field!r} names an unknown project" in str(error)
    assert {"from": "private/clinic", "to": "private/oncology"}[field] in str(error.expected)


@pytest.mark.parametrize(
    ("text", "code", "words"),
    [
        (GOOD.replace("oncology", "clinic"), "class", "to itself"),
        (GOOD.replace("board, 2026-03-02", "  "), "class", "says no reason"),
        (GOOD.replace('why = "board, 2026-03-02"\n', ""), "grants", "who allowed it"),
        (GOOD.replace("private/oncology", "public"), "class", "no grant makes it public"),
        (GOOD.replace("private/clinic", "public"), "class", "two private classes"),
        (GOOD.replace("private/clinic", "clinic"), "class", "public or private/<project>"),
        (GOOD.replace("private/clinic", "private/notes/clinic"), "key", "'notes/clinic'"),
        (GOOD + 'until = "2027"\n', "grants", "unknown field 'until'"),
        (GOOD.replace("why", "whys"), "grants", "write 'why'"),
        (GOOD.replace('"private/clinic"', "3"), "grants", "no text for 'from'"),
        (GOOD.replace("[[", "[").replace("]]", "]"), "grants", "double brackets"),
        ("[tool]\naifactory = 3\n", "settings", "is no table"),
        (GOOD.replace("grants", "grant"), "settings", "write tool.aifactory.grants"),
        ("[tool.aifactory.colours]\n", "settings", "remove it"),
        ("[tool.aifactory]\ngrants = ['clinic']\n", "grants", "is no table"),
        (GOOD + "= 3", "settings", "not TOML"),
    ],
)
def test_what_is_no_grant_is_refused(project: Project, text: str, code: str, words: str) -> None:
    error = refused(project, text)
    assert error.code == code
    assert words in str(error)


def test_a_second_grant_is_named_by_its_number(project: Project) -> None:
    assert "grant 2" in str(refused(project, GOOD + GOOD.replace("clinic", "nobody")))
