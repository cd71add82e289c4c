"""What tests of the crossing share: the environment of its lock, a zone filled by the generator, and runs."""

from __future__ import annotations

import os
import shutil
import subprocess
from functools import cache
from pathlib import Path

import pytest

from aifactory.channel import Audited, StageBuilt
from aifactory.channel.reader import Reader
from aifactory.datasets.zone import KEY_FILE
from aifactory.environments import ensure_environment
from aifactory.namespace.restricted import VARIABLE
from tests.build.lab import Lab

CHECKOUT = Path(__file__).resolve().parents[1]
STAGE = "private/clinic/notes/pseudonymized"
SECRET = "0123456789abcdef" * 4
OTHER = "fedcba9876543210" * 4


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


def set_up(lab: Lab, zone: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Lab:
    """Give a lab this lab's private assets, the zone, and a key in `folder`."""
    shutil.copytree(CHECKOUT / "assets" / "private", lab.root / "assets" / "private")
    (lab.root / "locks").mkdir()
    shutil.copy(CHECKOUT / "locks" / "crossing.lock", lab.root / "locks")
    (folder / "key").write_text(SECRET)
    (folder / "key").chmod(0o600)
    monkeypatch.setenv(VARIABLE, str(zone.parent))
    monkeypatch.setenv(KEY_FILE, str(folder / "key"))
    monkeypatch.setenv("AIFACTORY_STATE", str(folder / "state"))
    return lab


class Crossed:
    """What one run told, and all that it wrote."""

    def __init__(self, attempt: Path, code: int, errors: str):
        self.code, self.errors, self.attempt = code, errors, attempt
        payloads = [message.payload for message in Reader(attempt).new()]
        self.built = next((one for one in payloads if isinstance(one, StageBuilt)), None)
        self.audits = {one.check: one for one in payloads if isinstance(one, Audited)}
        self.error = next(one.error for one in payloads if one.type == "closed")


def cross(lab: Lab, fault: str = "pass") -> Crossed:
    """Build the crossing's stage as a run does; `fault` is run first."""
    return run(lab.recorded(STAGE, access="private/clinic"), fault)


def run(attempt: Path, fault: str = "pass") -> Crossed:
    """The run of an attempt that was planned before."""
    code = f"{fault}\nimport sys; from aifactory.run import main; sys.exit(main())"
    command = [str(crossing_python()), "-c", code, "--run", str(attempt.parents[1]), "--attempt", "1"]
    environment = {**os.environ, "PYTHONPATH": str(CHECKOUT / "src")}
    done = subprocess.run(command, cwd=attempt, env=environment, capture_output=True, text=True, check=False)
    return Crossed(attempt, done.returncode, done.stderr)
