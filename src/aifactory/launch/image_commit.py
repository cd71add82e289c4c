"""Which commit an image was made of, as the runs that named it recorded it."""

from __future__ import annotations

import json
from pathlib import Path

from aifactory.launch.runs import runs_directories
from aifactory.namespace import Namespace
from aifactory.spec import ImageName, ImageRef


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
