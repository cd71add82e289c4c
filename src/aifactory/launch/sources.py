"""What git and the images on this machine know about the code of a run."""

from __future__ import annotations

import io
import re
import subprocess
import tarfile
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from aifactory.errors import FactoryError
from aifactory.launch.images.copies import images_directory
from aifactory.project import Project
from aifactory.spec import ImageRef, image_inputs, inputs_digest
from aifactory.spec.difference import ImageFiles
from aifactory.spec.git import run_git
from aifactory.store import hash_file

COMMIT = re.compile(r"[0-9a-f]{7,64}")
FOLDERS = frozenset({"src", "locks", "docker", "assets", "checks"})
"""Top-level folders that an image may take files from."""


def commits_between(root: Path, old: str | None, new: str | None) -> tuple[str, ...] | None:
    """Commits in one history and not in the other, the newest first: `> <commit> <subject>` those of `new`, `< ` those
    of `old`. None where the checkout at `root` doesn't know both."""
    if not all(commit and COMMIT.fullmatch(commit) for commit in (old, new)):
        return None
    try:
        log = run_git(root, "log", "--left-right", "--no-color", "--format=%m %h %s", f"{old}...{new}", "--")
    except (OSError, subprocess.CalledProcessError):
        return None
    return tuple(log.decode(errors="replace").splitlines())


def image_files(project: Project, image: ImageRef, commit: str | None) -> ImageFiles | None:
    """What the image was built from: read from its copy on this machine, from the checkout as it stands, or from git
    at `commit`, whichever has the image's digest. None where none has."""
    copy = images_directory(project) / image.digest
    return (
        _read(replace(project, root=copy, package=copy / "src" / "aifactory"), image)
        or _read(project, image)
        or _from_git(project, image, commit)
    )


def _from_git(project: Project, image: ImageRef, commit: str | None) -> ImageFiles | None:
    if commit is None or not COMMIT.fullmatch(commit):
        return None
    try:
        listed = run_git(project.root, "ls-tree", "--name-only", commit).decode().splitlines()
        archive = run_git(project.root, "archive", "--format=tar", commit, "--", *sorted(FOLDERS & set(listed)))
    except (OSError, subprocess.CalledProcessError):
        return None
    with (
        tempfile.TemporaryDirectory(prefix="aifactory-diff-") as folder,
        tarfile.open(fileobj=io.BytesIO(archive)) as tar,
    ):
        try:
            tar.extractall(folder, filter="data")
        except (tarfile.TarError, OSError):
            return None
        root = Path(folder)
        package = root / "src" / "aifactory"
        return _read(replace(project, root=root, package=package if package.is_dir() else project.package), image)


def _read(project: Project, image: ImageRef) -> ImageFiles | None:
    """The build inputs under a root, if they are those that the digest names."""
    if not project.root.is_dir():
        return None
    try:
        inputs: Mapping[str, Path] = image_inputs(project, image.name)
        if inputs_digest(dict(inputs)) != image.digest:
            return None
        files = {name: hash_file(path)[1] for name, path in inputs.items()}
        return ImageFiles(files, inputs[f"locks/{image.name}.lock"].read_text())
    except (FactoryError, OSError):
        return None
