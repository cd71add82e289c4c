"""Images: what they are built from, and a digest that follows nothing else."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from aifactory.errors import FactoryError
from aifactory.project import Project
from aifactory.spec import ImageName, image_digest, image_inputs

FILES = {
    "locks/data.lock": "pyarrow==1\n",
    "locks/train.lock": "torch==1\n",
    "locks/control.lock": "dagster==1\n",
    "docker/data.Dockerfile": "FROM scratch\n",
    "docker/train.Dockerfile": "FROM scratch\n",
    "images.toml": "",
    "clusters.toml": "",
    "sites.toml": "",
    "README.md": "",
    "locks/crossing.lock": "presidio-analyzer==1\n",
    "docker/crossing.Dockerfile": "FROM scratch\n",
    "docs/train.md": "",
    "recipes/tiny.py": "",
    "definitions/__init__.py": "",
    "jobs/train.py": "",
    "assets/public/icd10cm.py": "raw = 1\n",
    "assets/public/codes.json": "{}",
    "checks/lengths.py": "",
    "src/aifactory/__init__.py": "",
    "src/aifactory/run.py": "",
    "src/aifactory/environments.py": "",
    "src/aifactory/cli.py": "",
    "src/aifactory/py.typed": "",
    "src/aifactory/store/__init__.py": "",
    "src/aifactory/data/bpe.py": "",
    "src/aifactory/datasets/stage.py": "",
    "src/aifactory/build/__init__.py": "",
    "src/aifactory/train/model.py": "",
    "src/aifactory/evaluate/__init__.py": "",
    "src/aifactory/launch/plan.py": "",
    "src/aifactory/orchestrate/assets.py": "",
    "src/aifactory/laptop/bootstrap.py": "",
}
NAMES: tuple[ImageName, ...] = ("data", "crossing", "train")
MACHINERY = {"src/aifactory/" + one for one in ("__init__.py", "run.py", "py.typed", "store/__init__.py")} | {
    "src/aifactory/data/bpe.py",
    "src/aifactory/datasets/stage.py",
    "src/aifactory/build/__init__.py",
}
CONTROL = {"src/aifactory/" + one for one in ("environments.py", "cli.py", "launch/plan.py", "laptop/bootstrap.py")} | {
    "src/aifactory/orchestrate/assets.py"
}
TRAINING = {"src/aifactory/train/model.py", "src/aifactory/evaluate/__init__.py"}
ASSETS = {"assets/public/icd10cm.py", "assets/public/codes.json", "checks/lengths.py"}
HELD = {
    "data": {"locks/data.lock", "docker/data.Dockerfile", *MACHINERY, *ASSETS},
    "crossing": {"locks/crossing.lock", "docker/crossing.Dockerfile", *MACHINERY, *ASSETS},
    "train": {"locks/train.lock", "docker/train.Dockerfile", *MACHINERY, *TRAINING},
}


def write(root: Path) -> Project:
    for name, text in FILES.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return replace(Project.current(), root=root, package=root / "src" / "aifactory")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return write(tmp_path / "checkout")


@pytest.mark.parametrize("name", NAMES)
def test_an_image_holds_its_lock_its_dockerfile_and_its_folders(project: Project, name: ImageName) -> None:
    inputs = image_inputs(project, name)
    assert set(inputs) == HELD[name]
    assert list(inputs) == sorted(inputs)
    assert all(path.is_file() for path in inputs.values())


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("changed", sorted(FILES))
def test_a_change_moves_the_digest_exactly_when_the_image_holds_the_file(
    project: Project, name: ImageName, changed: str
) -> None:
    before = image_digest(project, name)
    with (project.root / changed).open("a") as file:
        file.write("# changed\n")
    assert (image_digest(project, name) != before) == (changed in HELD[name])


def test_adding_renaming_and_removing_a_source_moves_the_digest(project: Project) -> None:
    digests = [image_digest(project, "data")]
    (project.package / "data" / "empty.py").write_text("")
    digests.append(image_digest(project, "data"))
    (project.package / "data" / "empty.py").rename(project.package / "data" / "blank.py")
    digests.append(image_digest(project, "data"))
    (project.package / "data" / "blank.py").unlink()
    assert image_digest(project, "data") == digests[0]
    assert len(set(digests)) == 3


def test_neither_time_nor_place_nor_caches_are_in_the_digest(project: Project, tmp_path: Path) -> None:
    other = write(tmp_path / "elsewhere" / "other")
    for path in other.root.rglob("*.py"):
        os.utime(path, (1, 1))
    cache = other.package / "data" / "__pycache__"
    cache.mkdir()
    (cache / "bpe.cpython-312.pyc").write_bytes(b"x")
    (other.package / "data" / "bpe.pyc").write_bytes(b"x")
    (other.package / ".bpe.py.swp").write_bytes(b"x")
    (other.package / "bpe.py~").write_bytes(b"x")
    for name in NAMES:
        assert image_digest(project, name) == image_digest(other, name)


def test_python_of_another_minor_version_is_another_image(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    before = image_digest(project, "data")
    monkeypatch.setattr("aifactory.spec.images.python_minor", lambda: "3.13")
    assert image_digest(project, "data") != before


def test_a_project_without_locks_uses_those_beside_the_machinery(project: Project, tmp_path: Path) -> None:
    shutil.copytree(project.root / "assets", tmp_path / "mine" / "assets")
    mine = replace(project, root=tmp_path / "mine")
    assert image_inputs(mine, "data")["locks/data.lock"] == project.root / "locks/data.lock"
    assert image_inputs(mine, "data")["assets/public/icd10cm.py"] == mine.root / "assets/public/icd10cm.py"


def test_a_missing_lock_and_an_unknown_image_are_refused(project: Project) -> None:
    (project.root / "locks/data.lock").unlink()
    with pytest.raises(FactoryError) as caught:
        image_digest(project, "data")
    assert caught.value.code == "no_lock"
    with pytest.raises(FactoryError) as caught:
        image_digest(project, "control")  # type: ignore[arg-type]
    assert caught.value.code == "unknown_image"
    assert "data or crossing or train" in str(caught.value)


def test_no_image_of_this_project_holds_a_module_that_imports_dagster() -> None:
    for name in NAMES:
        for relative, path in image_inputs(Project.current(), name).items():
            if relative.startswith("src/") and relative.endswith(".py"):
                text = path.read_text()
                assert "import dagster" not in text, relative
                assert "from dagster" not in text, relative
