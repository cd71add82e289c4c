"""The tables [tool.aifactory...] of pyproject.toml."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from aifactory.errors import FactoryError
from aifactory.namespace.settings import TABLES, setting
from aifactory.project import Project


def project(root: Path, text: str | None) -> Project:
    if text is not None:
        (root / "pyproject.toml").write_text(text)
    return Project(root=root, state=root, envs=root, namespace=root / "namespace", package=root)


def test_a_table_is_handed_over_and_a_missing_one_is_nothing(tmp_path: Path) -> None:
    text = '[tool.aifactory.identities]\npublic = "root"\n[tool.other.grant]\n'
    assert setting(project(tmp_path, text), "identities") == {"public": "root"}
    assert setting(project(tmp_path, text), "grants") is None


def test_without_the_file_nothing_is_set(tmp_path: Path) -> None:
    assert setting(project(tmp_path, None), "grants") is None


@pytest.mark.parametrize("name", ["grant", "identity", "colours"])
def test_a_table_that_nobody_reads_is_refused_by_whoever_reads_another(tmp_path: Path, name: str) -> None:
    with pytest.raises(FactoryError) as caught:
        setting(project(tmp_path, f"[tool.aifactory.{name}]\n"), "identities")
    assert caught.value.code == "settings"
    assert f"tool.aifactory.{name}" in caught.value.what


def test_every_table_of_this_project_is_read_by_somebody() -> None:
    document = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())
    assert set(document["tool"].get("aifactory", {})) <= set(TABLES)
