"""Which version of a package an image has."""

from __future__ import annotations

import re
from functools import lru_cache
from importlib import metadata
from pathlib import Path

from aifactory.project import Project


def locked(package: str, image: str = "data") -> str | None:
    """The version that the image's lock pins, else what is installed here, else None."""
    lock = Project.current().root / "locks" / f"{image}.lock"
    pinned = _pins(lock, lock.stat().st_mtime_ns).get(_normal(package)) if lock.is_file() else None
    if pinned is None:
        try:
            pinned = metadata.version(package)
        except metadata.PackageNotFoundError:
            return None
    return pinned


@lru_cache(maxsize=8)
def _pins(lock: Path, changed: int) -> dict[str, str]:
    found = re.findall(r"^([A-Za-z0-9._-]+)==([^\s;\\]+)", lock.read_text(), re.MULTILINE)
    return {_normal(name): version for name, version in found}


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
