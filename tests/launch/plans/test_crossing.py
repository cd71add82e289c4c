"""What a crossing's run is given, and no other run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from aifactory.datasets import find_stages
from aifactory.laptop.freshness import by_itself
from aifactory.launch import GateRefused, plan
from aifactory.launch.images.copies import LocalImage
from aifactory.launch.local import environment
from aifactory.namespace import Namespace
from aifactory.project import Project
from aifactory.spec import ImageName

GIVEN = {
    "AIFACTORY_RESTRICTED": "/restricted",
    "AIFACTORY_CROSSING_KEY_FILE": "/keys/clinic",
    "AIFACTORY_CROSSING_KEY": "secret",
}

KEY = "0123456789abcdef" * 4


@pytest.mark.parametrize(("name", "told"), [("crossing", True), ("data", False), ("train", False)])
def test_only_the_crossing_is_told_where_the_zone_and_its_key_are(tmp_path: Path, name: ImageName, told: bool) -> None:
    image = LocalImage(name, "0" * 64, tmp_path, tmp_path / "python")
    found = environment(GIVEN, tmp_path, image=image, roots=str(tmp_path), project=Project.current())
    assert {key: value for key, value in found.items() if key in GIVEN} == (GIVEN if told else {})


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A zone with its two files, and a key."""
    folder = tmp_path / "zone" / "clinic"
    folder.mkdir(parents=True)
    for part in (folder.parent, folder):
        part.chmod(0o700)
    for name in ("notes.jsonl", "patients.csv"):
        (folder / name).write_text("patient")
    monkeypatch.setenv("AIFACTORY_RESTRICTED", str(folder.parent))
    monkeypatch.setenv("AIFACTORY_CROSSING_KEY", KEY)
    monkeypatch.delenv("AIFACTORY_CROSSING_KEY_FILE", raising=False)
    return folder


def test_its_stage_and_its_checks_are_planned_on_its_own_image(tmp_path: Path, here: Path) -> None:
    stage = find_stages(Project.current())["private/clinic/notes/pseudonymized"]
    planned = plan(stage, ns=Namespace(tmp_path / "namespace"))
    assert planned.spec.image.name == "crossing"
    assert planned.class_root == tmp_path / "namespace" / "private" / "clinic"
    seen = planned.spec.build.parameters["restricted"]
    assert re.fullmatch("[0-9a-f]{64}", seen["fingerprint"])
    assert re.fullmatch("[0-9a-f]{12}", seen["key"])
    text = planned.path.read_text()
    assert not [value for value in (KEY, str(here.parent)) if value in text]


def test_all_that_is_wrong_with_the_zone_and_the_key_is_refused_before_anything_is_planned(
    tmp_path: Path, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    namespace = tmp_path / "namespace"

    def refused() -> list[str]:
        with pytest.raises(GateRefused) as caught:
            plan("private/clinic/notes/pseudonymized", ns=Namespace(namespace))
        return [refusal.code for refusal in caught.value.refusals]

    for path in here.iterdir():
        path.unlink()
    assert refused() == ["restricted_zone", "restricted_zone"]
    here.chmod(0o755)
    monkeypatch.setenv("AIFACTORY_CROSSING_KEY", "short")
    assert refused() == ["restricted_zone", "crossing_key"]
    monkeypatch.delenv("AIFACTORY_RESTRICTED")
    monkeypatch.delenv("AIFACTORY_CROSSING_KEY")
    assert refused() == ["restricted_zone", "crossing_key"]
    assert not list(namespace.rglob("spec.json"))


def test_nothing_crosses_by_itself() -> None:
    stages = find_stages(Project.current())
    kept = by_itself(stages)
    assert not [key for key in kept if key.startswith("private/clinic/notes/")]
    assert "public/icd10cm/ready" in kept
