"""What a crossing's run is given, and no other run."""

from __future__ import annotations

from pathlib import Path

import pytest

from aifactory.datasets import find_stages
from aifactory.laptop.freshness import by_itself
from aifactory.launch import plan
from aifactory.launch.images import LocalImage
from aifactory.launch.local import environment
from aifactory.namespace import Namespace
from aifactory.project import Project
from aifactory.spec import ImageName

GIVEN = {
    "AIFACTORY_RESTRICTED": "/restricted",
    "AIFACTORY_CROSSING_KEY_FILE": "/keys/clinic",
    "AIFACTORY_CROSSING_KEY": "secret",
}


@pytest.mark.parametrize(("name", "told"), [("crossing", True), ("data", False), ("train", False)])
def test_only_the_crossing_is_told_where_the_zone_and_its_key_are(tmp_path: Path, name: ImageName, told: bool) -> None:
    image = LocalImage(name, "0" * 64, tmp_path, tmp_path / "python")
    found = environment(GIVEN, tmp_path, image=image, roots=str(tmp_path), project=Project.current())
    assert {key: value for key, value in found.items() if key in GIVEN} == (GIVEN if told else {})


def test_its_stage_and_its_checks_are_planned_on_its_own_image(tmp_path: Path) -> None:
    stage = find_stages(Project.current())["private/clinic/notes/pseudonymized"]
    planned = plan(stage, ns=Namespace(tmp_path / "namespace"))
    assert planned.spec.image.name == "crossing"
    assert planned.class_root == tmp_path / "namespace" / "private" / "clinic"
    text = planned.path.read_text()
    assert not [value for value in GIVEN.values() if value in text]


def test_nothing_crosses_by_itself() -> None:
    stages = find_stages(Project.current())
    kept = by_itself(stages)
    assert not [key for key in kept if key.startswith("private/clinic/notes/")]
    assert "public/icd10cm/ready" in kept
