"""Processes of other users of this machine: a place that all of them may enter, and a Python that they may start."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from aifactory.environments import ensure_environment
from tests.orchestrate.lab import CHECKOUT

# Numbers that no user of a machine has: nothing else is theirs, and no name is needed.
PUBLIC, WARD, STRANGER = 61001, 61002, 61003
CODE = ("src", "definitions", "jobs", "schedules", "sensors", "locks")
HEAVY = shutil.ignore_patterns("test", "idlelib", "tkinter", "site-packages", "*.a")


def root_only() -> None:
    """Skip what only root can show: becoming another user, and giving folders away."""
    if os.geteuid() != 0:
        pytest.skip("only root becomes another user of the machine")


@dataclass
class Users:
    """`base` is entered by everybody, written by root; `checkout` is this one, or a copy that everybody may read;
    `pythons` are interpreters by the name of their lock."""

    base: Path
    checkout: Path = CHECKOUT
    pythons: dict[str, Path] = field(default_factory=dict)
    libraries: str = ""

    def folder(self, name: str, uid: int) -> Path:
        """A folder of one user's own that others may read."""
        path = self.base / name
        path.mkdir()
        os.chown(path, uid, uid)
        return path

    def environment(self, uid: int, **more: str) -> dict[str, str]:
        """The environment of a process of this user; nothing of root's leaks into it."""
        kept = {name: os.environ[name] for name in ("PATH", "LANG", "TZ", "AIFACTORY_MIRROR") if name in os.environ}
        kept |= {"PYTHONPATH": str(self.checkout / "src"), "HOME": "/nonexistent"}
        kept |= {"AIFACTORY_ENVS": str(self.base / "envs"), "PYTHONDONTWRITEBYTECODE": "1"}
        return kept | ({"LD_LIBRARY_PATH": self.libraries} if self.libraries else {}) | more

    def run(
        self, uid: int, *arguments: str, lock: str = "control", **environment: str
    ) -> subprocess.CompletedProcess[str]:
        """`python <arguments>` as that user, with its output."""
        return subprocess.run(
            [self.pythons[lock], *arguments],
            user=uid,
            group=uid,
            extra_groups=[],
            umask=0o022,
            env=self.environment(uid, **environment),
            cwd=self.base,
            capture_output=True,
            text=True,
            check=False,
            timeout=240,
        )

    def start(self, uid: int, command: list[str], log: Path, environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
        """A process of that user that goes on; its output in `log`, which root writes."""
        with log.open("wb") as out:
            return subprocess.Popen(
                [str(self.pythons["control"]), *command],
                user=uid,
                group=uid,
                extra_groups=[],
                umask=0o022,
                env=self.environment(uid, **environment),
                cwd=self.base,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )


@contextmanager
def users() -> Iterator[Users]:
    """A place for other users, outside of pytest's folders, which are their owner's alone."""
    base = Path(tempfile.mkdtemp(prefix="aifactory-users-"))
    base.chmod(0o755)
    try:
        found = Users(base)
        made = _environments()
        home = Path(sys.base_prefix).resolve()
        if not open_to_all(home):
            home = _copy(home, base / "python")
            found.libraries = str(home / "lib")
        if not open_to_all(CHECKOUT):
            found.checkout = base / "checkout"
            for folder in CODE:
                shutil.copytree(CHECKOUT / folder, found.checkout / folder, ignore=HEAVY, copy_function=_link)
        for lock in ("control", "data"):
            python = ensure_environment(made, CHECKOUT / "locks" / f"{lock}.lock")
            found.pythons[lock] = _twin(python.parents[1], base / "envs", home)
        yield found
    finally:
        shutil.rmtree(base, ignore_errors=True)


def _environments() -> Path:
    made = Path(os.environ.get("AIFACTORY_ENVS") or CHECKOUT / ".aifactory" / "envs")
    made.mkdir(parents=True, exist_ok=True)
    return made


def open_to_all(path: Path) -> bool:
    """Whether every user may enter this folder."""
    return all(place.stat().st_mode & 0o001 for place in (path, *path.parents))


def _copy(home: Path, target: Path) -> Path:
    """The interpreter where everybody may read it; hard links, so that it takes no room and little time."""
    for part in ("bin", "lib"):
        shutil.copytree(home / part, target / part, ignore=HEAVY, symlinks=True, copy_function=_link)
    return target


def _link(source: str, target: str) -> str:
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)
    return target


def _twin(env: Path, envs: Path, home: Path) -> Path:
    """The same environment with the other interpreter: its packages are read where they are, if everybody may."""
    twin = envs / env.name
    (twin / "bin").mkdir(parents=True)
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    (twin / "bin" / "python").symlink_to(home / "bin" / version)
    if open_to_all(env):
        (twin / "lib").symlink_to(env / "lib")
    else:
        shutil.copytree(env / "lib", twin / "lib", symlinks=True, copy_function=_link)
    (twin / "pyvenv.cfg").write_text(f"home = {home / 'bin'}\ninclude-system-site-packages = false\n")
    shutil.copy(env / ".complete", twin)
    return twin / "bin" / "python"
