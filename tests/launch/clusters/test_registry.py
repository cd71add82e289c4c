"""clusters.toml: read with clear errors."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from aifactory.errors import FactoryError
from aifactory.launch import load_clusters
from aifactory.project import Project


def project(root: Path, text: str | None) -> Project:
    if text is not None:
        (root / "clusters.toml").write_text(text)
    return replace(Project.current(), root=root)


def test_the_project_knows_its_own_machine() -> None:
    clusters = load_clusters(Project.current())
    assert clusters["local"].backend == "local"
    assert clusters["local"].queues == ()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "missing"),
        ("[local\n", "not TOML"),
        ("local = 1", "not a table"),
        ('[local]\nbackend = "slurm"', "backend"),
        ('[local]\nbackend = "local"\nquues = []', "quues"),
        ("[local]", "backend"),
        ('[local]\nname = "x"\nbackend = "local"', "name"),
    ],
)
def test_a_wrong_file_is_an_error_that_names_what_is_wrong(tmp_path: Path, text: str | None, said: str) -> None:
    with pytest.raises(FactoryError, match=said) as caught:
        load_clusters(project(tmp_path, text))
    assert caught.value.code == "clusters"
    assert "clusters.toml" in str(caught.value)
