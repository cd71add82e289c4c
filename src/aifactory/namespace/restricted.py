"""The restricted zone: a folder outside the namespace, where data stands before it crossed over."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from pathlib import Path

from aifactory.errors import FactoryError

VARIABLE = "AIFACTORY_RESTRICTED"


def open_zone(name: str, *, outside: Iterable[Path], environment: dict[str, str] | None = None) -> Path:
    """The folder `name` of the restricted zone.

    Raises FactoryError, code "restricted_zone": no zone is configured or the folder is not there, it lies in one of
    the folders `outside` (or holds one), or others than its owner and group may enter it.
    """
    value = (environment if environment is not None else dict(os.environ)).get(VARIABLE, "")
    if not value:
        raise _refused(
            "no restricted zone is configured here",
            f"{VARIABLE} is not set",
            "the folder that holds the zone, for the identity that crosses only",
            f"set {VARIABLE}, or leave this stage to who has it",
        )
    root = Path(value).resolve()
    for place in outside:
        other = place.resolve()
        if root == other or root.is_relative_to(other) or other.is_relative_to(root):
            raise _refused(
                "the restricted zone and the factory's own folders must not hold one another",
                f"{root} and {other}",
                "a folder of its own, outside the namespace and the project",
                f"move the zone, and set {VARIABLE} to its new place",
            )
    folder = root / name
    try:
        mode = folder.stat().st_mode
    except OSError as error:
        raise _refused(
            f"the restricted zone has no folder {name} that can be read",
            error.strerror,
            f"the folder {name} under {VARIABLE}",
            "fill it, or run this as the identity that may read it",
        ) from None
    if not stat.S_ISDIR(mode) or not folder.resolve().is_relative_to(root):
        raise _refused(f"{name} of the restricted zone is no folder in it", "something else", "a folder", "mend it")
    for part in (root, folder):
        if (bits := stat.S_IMODE(part.stat().st_mode)) & 0o007:
            raise _refused(
                "everybody on this machine may enter the restricted zone",
                f"mode {bits:04o}",
                "nothing for others (0700 or 0750)",
                f"chmod o-rwx {part}",
            )
    return folder


def _refused(what: str, found: object, expected: object, fix: str) -> FactoryError:
    return FactoryError(what, found=found, expected=expected, fix=fix, code="restricted_zone")
