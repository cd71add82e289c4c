"""What is wrong in the files about places is told when definitions load."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from aifactory.errors import FactoryError
from aifactory.orchestrate.location import places_known
from aifactory.project import Project


@pytest.mark.parametrize(
    ("name", "text", "code"),
    [
        ("clusters.toml", '[lab]\nbackend = "kuberay"\n', "clusters"),
        ("sites.toml", '[lab]\nview = "lab"\n', "sites"),
        ("images.toml", '[train]\ndigest = "x"\n', "images"),
    ],
)
def test_a_wrong_file_is_an_error_before_anybody_launches(name: str, text: str, code: str, tmp_path: Path) -> None:
    project = replace(Project.current(), root=tmp_path)
    places_known(project)
    (tmp_path / name).write_text(text)
    with pytest.raises(FactoryError) as caught:
        places_known(project)
    assert caught.value.code == code
