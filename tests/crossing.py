"""What tests of the crossing share: the environment of its lock, and a zone filled by the generator."""

from __future__ import annotations

import os
import subprocess
from functools import cache
from pathlib import Path

from aifactory.environments import ensure_environment
from aifactory.project import Project

CHECKOUT = Path(__file__).resolve().parents[1]
KEY = "0123456789abcdef" * 4
OTHER_KEY = "fedcba9876543210" * 4


@cache
def crossing_python() -> Path:
    """The interpreter of the crossing's environment."""
    envs = Path(os.environ.get("AIFACTORY_ENVS") or CHECKOUT / ".aifactory" / "envs")
    return ensure_environment(envs, CHECKOUT / "locks" / "crossing.lock")


def fill_zone(zone: Path, *more: str) -> Path:
    """`zone/clinic` with invented patients and notes; the options are the generator's."""
    command = [str(crossing_python()), "-m", "synthetic.clinic", "--zone", str(zone), *more]
    subprocess.run(command, cwd=CHECKOUT, check=True, capture_output=True)
    zone.chmod(0o700)
    return zone / "clinic"


def parameters(**more: object) -> dict[str, object]:
    """Of this lab's crossing stage, as the spec has them."""
    from assets.private.clinic import notes

    assert Project.current().root
    return {**notes.pseudonymized.parameters, **more}
