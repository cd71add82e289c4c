"""`aifactory smoke`: what it says without settings, of another place, of a red one. The job's test has a green one."""

from __future__ import annotations

from pathlib import Path

import pytest

from aifactory.launch.images.verifications import verifications
from aifactory.launch.scope import VARIABLE
from tests.cli.inside import Inside, start
from tests.launch.published import READY, SUITE

SETTINGS = f'[tool.aifactory.smoke]\ndata = "{READY}"\nsuites = ["{SUITE}"]\n'


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Inside:
    return start(tmp_path, monkeypatch)


def test_what_is_missing_is_named_before_anything_is_launched(lab: Inside, monkeypatch: pytest.MonkeyPatch) -> None:
    nothing = lab("smoke")
    assert nothing.code != 0
    assert "declares no smoke" in nothing.err
    lab.lab.write("pyproject.toml", SETTINGS)
    elsewhere = lab("smoke", "--cluster", "east")
    assert elsewhere.code == 3
    assert "[unknown_cluster] there is no cluster 'east'" in elsewhere.err
    assert lab("smoke", "--cluster", "east").code == 3  # it did not wait for the one that was refused
    monkeypatch.setenv(VARIABLE, "private/ward")
    assert "aifactory-public" in lab("smoke").err
    assert list((lab.ns.root / "public" / "runs").glob("smoke-*/attempts/0*")) == []


def test_a_red_one_exits_1_shows_its_steps_and_proves_nothing(lab: Inside) -> None:
    lab.lab.write("pyproject.toml", SETTINGS)
    file = lab.ns.resolve(READY).path / "train" / "a.bin"
    file.chmod(0o644)
    file.write_text("b" * len(file.read_text()))
    found = lab("smoke", "--json")
    assert found.code == 1, found.err
    outcomes = {step["name"]: step["outcome"] for step in found.json["steps"]}
    assert (outcomes["data"], outcomes["mounts"], found.json["outcome"]) == ("red", "not reached", "failed_code")
    assert "a.bin" in found.json["steps"][0]["text"]
    assert verifications(lab.ns, "train") == []
