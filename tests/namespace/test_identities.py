from __future__ import annotations

import os
from pathlib import Path

import pytest

from aifactory.errors import FactoryError
from aifactory.namespace.identities import Identity, identities, writer_of
from aifactory.project import Project


def project(root: Path, text: str) -> Project:
    (root / "pyproject.toml").write_text(text)
    return Project(root=root, state=root, envs=root, namespace=root / "namespace", package=root)


def test_names_and_numbers_are_taken_alike(tmp_path: Path) -> None:
    text = 'public = "root"\n"private/ward" = { user = 61002, group = 61000 }\n'
    text += '"private/x" = { user = 1, group = "root" }\n'
    found = identities(project(tmp_path, f"[tool.aifactory.identities]\n{text}"))
    assert found == {
        "public": Identity("public", 0, 0),
        "private/ward": Identity("private/ward", 61002, 61000),
        "private/x": Identity("private/x", 1, 0),
    }
    assert (found["public"].owner, found["private/ward"].owner) == ("root:root", "61002:61000")


@pytest.mark.parametrize("text", ["", "[tool.other]\nx = 1\n"])
def test_a_project_that_names_none_has_none(tmp_path: Path, text: str) -> None:
    assert identities(project(tmp_path, text)) == {}
    (tmp_path / "pyproject.toml").unlink()
    assert identities(Project(tmp_path, *[tmp_path] * 4)) == {}


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ('"private" = "root"', "names no class"),
        ('"secret" = "root"', "names no class"),
        ('public = "no_such_user"', "no user 'no_such_user'"),
        ('public = { user = "root", group = "no_such_group" }', "no group 'no_such_group'"),
        ("public = 61001", "has no group here"),
        ("public = -1", "no user -1"),
        ("public = true", "no user True"),
        ('public = { group = "root" }', "public"),
        ('public = { user = "root", mode = 7 }', "public"),
        ('public = "root"\n"private/ward" = "root"', "private/ward and public are written by one user"),
    ],
)
def test_what_cannot_be_is_refused_and_named(tmp_path: Path, line: str, what: str) -> None:
    with pytest.raises(FactoryError) as caught:
        identities(project(tmp_path, f"[tool.aifactory.identities]\n{line}\n"))
    assert caught.value.code == "identities"
    assert what in caught.value.what
    assert "pyproject.toml" in caught.value.fix


@pytest.mark.parametrize(
    ("text", "code"), [("[tool.aifactory\n", "settings"), ("[tool.aifactory]\nidentities = 3\n", "identities")]
)
def test_a_file_that_is_none_is_refused(tmp_path: Path, text: str, code: str) -> None:
    with pytest.raises(FactoryError) as caught:
        identities(project(tmp_path, text))
    assert caught.value.code == code


def test_a_writer_says_its_class_and_its_user() -> None:
    assert writer_of("private/ward").startswith("pipeline/private/ward@")
    if os.geteuid() == 0:
        assert writer_of("public") == "pipeline/public@root"
    with pytest.raises(FactoryError):
        writer_of("secret")
