"""An older image by its digest: on this machine, or with the command that makes it again."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from aifactory.errors import FactoryError
from aifactory.launch.images.copies import images_directory
from aifactory.launch.images.rebuild import rebuild
from aifactory.launch.images.schema import ABOUT
from aifactory.launch.runs.summary import runs_directories
from aifactory.namespace import Namespace
from aifactory.project import Project
from aifactory.spec import ImageName, ImageRef, image_digest

SHORTEST = 8


def older_image(project: Project, name: ImageName, digits: str) -> ImageRef:
    """The image of this name whose digest begins so. Raises FactoryError, code "unknown_image", unless one on this
    machine does, with the command that makes it again where a run has named it."""
    known = sorted({*_on_this_machine(project, name), image_digest(project, name)})
    found = [digest for digest in known if digest.startswith(digits)]
    if len(digits) >= SHORTEST and len(found) == 1:
        return ImageRef(name=name, digest=found[0])
    used = image_in_runs(Namespace.of(project), name, digits) if not found else None
    again = rebuild(*used) if used else f"aifactory image build {name} --commit <commit>"
    raise FactoryError(
        f"{digits}: {'more than one' if len(found) > 1 else 'no'} image {name} on this machine has this digest",
        found=", ".join(digest[:16] for digest in found) or digits,
        expected=f"{SHORTEST} digits or more of one of {', '.join(digest[:16] for digest in known)}",
        fix="name more digits"
        if found
        else f"make it again from git: `{again}`; `aifactory image list` shows those that are here",
        code="unknown_image",
    )


def _on_this_machine(project: Project, name: str) -> Iterator[str]:
    for about in images_directory(project).glob(f"*/{ABOUT}"):
        if json.loads(about.read_bytes())["name"] == name:
            yield about.parent.name


def image_in_runs(ns: Namespace, name: ImageName, digits: str) -> tuple[ImageRef, str | None] | None:
    """The image `name` whose digest begins with `digits`, and its commit, from the newest run that has both; None where
    no run names it, or where several images begin so."""
    found: dict[str, tuple[float, str | None]] = {}
    for directory in runs_directories(ns):
        for run in directory.iterdir():
            try:
                image = json.loads((run / "spec.json").read_bytes())["spec"]["image"]
                context, at = json.loads((run / "context.json").read_bytes()), _time(run)
                digest, commit = str(image["digest"]), context.get("commit")
            except (OSError, ValueError, KeyError, TypeError, AttributeError):
                continue  # half made, or damaged: `aifactory doctor` tells
            if image.get("name") == name and digest.startswith(digits):
                known = (commit is not None, at)
                if digest not in found or known > (found[digest][1] is not None, found[digest][0]):
                    found[digest] = (at, commit)
    if len(found) != 1:
        return None
    ((digest, (_, commit)),) = found.items()
    return ImageRef(name=name, digest=digest), commit


def _time(run: Path) -> float:
    return (run / "context.json").stat().st_mtime
