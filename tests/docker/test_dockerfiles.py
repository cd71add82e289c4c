"""What the images of runs have in common, and what the manifests rely on."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from aifactory.launch.kuberay.pods import USER

ROOT = Path(__file__).parents[2]


@pytest.fixture(params=["data", "train"])
def stages(request: pytest.FixtureRequest) -> tuple[str, str, str]:
    """Its name, the dependency stage, the last stage."""
    dockerfile = (ROOT / "docker" / f"{request.param}.Dockerfile").read_text()
    dependencies, last = dockerfile.split("\nFROM dependencies\n")
    return request.param, dependencies, last


def test_the_dependency_layer_changes_with_the_lock_alone(stages: tuple[str, str, str]) -> None:
    name, dependencies, _ = stages
    assert re.findall(r"^COPY (\S+)", dependencies, re.MULTILINE) == [f"locks/{name}.lock"]


def test_the_last_layers_are_the_sources(stages: tuple[str, str, str]) -> None:
    name, _, last = stages
    folders = {"train": ["src"], "data": ["src", "assets", "checks"]}[name]
    assert last.split("\n") == [*(f"COPY {folder} /opt/aifactory/{folder}" for folder in folders), ""]


def test_it_runs_as_the_user_that_the_manifests_ask_for(stages: tuple[str, str, str]) -> None:
    assert f"--uid {USER} " in stages[1]
    assert f"\nUSER {USER}:{USER}\n" in stages[1]


def test_the_installer_is_the_one_of_the_lock(stages: tuple[str, str, str]) -> None:
    pinned = re.search(r"^uv==\S+$", (ROOT / "locks" / "control.lock").read_text(), re.MULTILINE)
    assert pinned is not None
    assert re.findall(r"uv==[\d.]+", stages[1]) == [pinned[0]]


def test_kuberay_finds_ray_in_it(stages: tuple[str, str, str]) -> None:
    lock = (ROOT / "locks" / f"{stages[0]}.lock").read_text()
    # Two packages of `ray[default]`: the dashboard, which the operator asks, needs them.
    assert {"ray", "aiohttp", "opencensus"} <= {line.partition("==")[0] for line in lock.splitlines()}
