"""What an image is built from, and the digest that names it. Docs, recipes and `images.toml` are in none."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, get_args

from aifactory.errors import FactoryError
from aifactory.project import Project
from aifactory.store import digest, hash_file

ImageName = Literal["data", "crossing", "train"]

CONTROL_PLANE = frozenset({"cli", "environments", "laptop", "launch", "orchestrate"})
"""Modules of the machinery that no image of a run holds: they start runs, and some import Dagster."""

LEFT_OUT: dict[ImageName, frozenset[str]] = {
    "data": CONTROL_PLANE | {"train", "evaluate", "smoke"},
    "crossing": CONTROL_PLANE | {"train", "evaluate", "smoke"},
    "train": CONTROL_PLANE,
}
FOLDERS: dict[ImageName, tuple[str, ...]] = {
    "data": ("assets", "checks"),
    "crossing": ("assets", "checks"),
    "train": (),
}


def python_minor() -> str:
    """`3.12`: the part of Python's version that images are built for."""
    return f"{sys.version_info.major}.{sys.version_info.minor}"


def image_inputs(project: Project, name: ImageName) -> dict[str, Path]:
    """Build inputs as a sorted mapping of path inside the image to source file.

    `locks/<name>.lock`, `docker/<name>.Dockerfile` where there is one, the machinery under `src/aifactory/`, and for
    `data` and `crossing` the folders `assets/` and `checks/`. A project without its own lock uses the one beside the
    machinery.
    Raises FactoryError with code "unknown_image" or "no_lock".
    """
    if name not in get_args(ImageName):
        raise FactoryError(
            f"there is no image {name!r}",
            found=name,
            expected=" or ".join(get_args(ImageName)),
            fix="name one of them",
            code="unknown_image",
        )
    lock, dockerfile = f"locks/{name}.lock", f"docker/{name}.Dockerfile"
    found: dict[str, Path] = {}
    for relative in (lock, dockerfile):
        for base in (project.root, project.package.parents[1]):
            if (base / relative).is_file():
                found[relative] = base / relative
                break
    if lock not in found:
        raise FactoryError(
            f"the image {name} has no lock",
            found="no file",
            expected=project.root / lock,
            fix="run `make locks`, or restore the file from git",
            code="no_lock",
        )
    for path in _files(project.package):
        inside = path.relative_to(project.package)
        if inside.parts[0].removesuffix(".py") not in LEFT_OUT[name]:
            found[f"src/aifactory/{inside.as_posix()}"] = path
    for folder in FOLDERS[name]:
        for path in _files(project.root / folder):
            found[path.relative_to(project.root).as_posix()] = path
    return dict(sorted(found.items()))


def image_digest(project: Project, name: ImageName) -> str:
    """Digest over the sorted build inputs (path -> sha256) and Python's minor version: 64 hex digits, independent of
    where the checkout stands and of when its files were written."""
    return inputs_digest(image_inputs(project, name))


def inputs_digest(inputs: dict[str, Path]) -> str:
    """The digest that `image_digest` gives for these build inputs."""
    files = {relative: hash_file(path)[1] for relative, path in inputs.items()}
    return digest({"python": python_minor(), "files": files})


def _files(folder: Path) -> Iterator[Path]:
    """Regular files under a folder; caches, byte code and hidden files are nobody's source."""
    for directory, folders, names in folder.walk():
        folders[:] = sorted(one for one in folders if one != "__pycache__" and not one.startswith("."))
        for name in sorted(names):
            if not name.startswith(".") and not name.endswith((".pyc", "~")):
                yield directory / name
