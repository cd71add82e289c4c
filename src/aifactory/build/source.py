"""Builder of `source`: raw files, verified against their pins and kept as they are."""

from __future__ import annotations

import shutil
from importlib import metadata
from pathlib import Path
from typing import Any

from aifactory.build.fetch import located
from aifactory.build.inputs import Work
from aifactory.build.made import Made
from aifactory.data.archive import canonicalize
from aifactory.errors import FactoryError
from aifactory.store import writing

SUFFIXES = (".tar.gz", ".tar.xz", ".tar.bz2", ".tgz", ".txz", ".tbz2", ".tar", ".zip")


def build(work: Work, staging: Path) -> Made:
    """Package files, one file, or one canonical archive."""
    parameters = work.parameters
    if "package" in parameters:
        return _package(work, parameters, staging)
    if "archive" in parameters:
        return _archive(work, parameters, staging)
    name = parameters["file"]
    target = staging / Path(name).name
    with located(work, name, parameters["url"], parameters["sha256"]) as found, writing(target):
        shutil.copyfile(found, target)
    return Made()


def _archive(work: Work, parameters: dict[str, Any], staging: Path) -> Made:
    name, expected = parameters["archive"], parameters["digest"]
    stem = next((name.removesuffix(suffix) for suffix in SUFFIXES if name.endswith(suffix)), name)
    with located(work, name, parameters["url"], None, pin=f"digest of the files {expected}") as found:
        digest = canonicalize(found, staging / f"{stem}.tar", strip_top=parameters["strip_top"])
    if digest != expected:
        raise FactoryError(
            f"{work.build.key}: {name} does not hold the files that are pinned",
            found=f"digest {digest}",
            expected=f"digest {expected}",
            fix="provide the archive that was pinned; if the new one is right, change digest= and review what changed",
            code="digest",
        )
    return Made()


def _package(work: Work, parameters: dict[str, Any], staging: Path) -> Made:
    package, pinned = parameters["package"], parameters["version"]
    try:
        distribution = metadata.distribution(package)
    except metadata.PackageNotFoundError:
        raise FactoryError(
            f"{work.build.key}: the package {package} is not installed in the data image",
            found="not installed",
            expected=f"{package}=={pinned}" if pinned else package,
            fix=f"add {package} to the group `data` of pyproject.toml and run `make locks`",
            code="package",
        ) from None
    if pinned is not None and distribution.version != pinned:
        raise FactoryError(
            f"{work.build.key}: another version of {package} is installed than the one that was planned",
            found=distribution.version,
            expected=pinned,
            fix="make the image again, and plan again",
            code="package",
        )
    held = {str(path): path for path in distribution.files or ()}
    for name in parameters["files"]:
        matches = [path for path in held if path == name or path.endswith(f"/{name}")]
        if len(matches) != 1:
            raise FactoryError(
                f"{work.build.key}: {package} {distribution.version} has {len(matches)} files {name!r}",
                found=", ".join(matches[:5]) or "none",
                expected="one",
                fix="name the file by its path in the package",
                code="package",
            )
        target = staging / name
        target.parent.mkdir(parents=True, exist_ok=True)
        with writing(target):
            shutil.copyfile(str(distribution.locate_file(held[matches[0]])), target)
    return Made(metadata={"package": f"{package} {distribution.version}"})
