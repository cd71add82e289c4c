"""Make the environments that make targets run in, from a machine that has a Python and nothing else.

Run by its path, with any Python from 3.9 on and only the standard library: `bootstrap.py control dev` makes those two
and prints the interpreter of the first on standard output; what it does meanwhile goes to standard error.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Iterator, Optional

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from aifactory.environments import PYTHON, ensure_environment, environment_path, environment_python, is_complete
from aifactory.errors import FactoryError
from aifactory.project import Project

EDITABLE = ("control", "dev")


def main(names: list[str]) -> int:
    """Make the named environments; 0, or 1 with the error printed."""
    project = Project.current()
    try:
        pythons = [prepare(project, name) for name in names]
    except FactoryError as error:
        say(f"error: {error}")
        return 1
    print(pythons[0])
    return 0


def prepare(project: Project, name: str) -> Path:
    """The interpreter of environment `name`, made if need be; only then is uv itself fetched."""
    lock = project.root / "locks" / f"{name}.lock"
    ready = is_complete(environment_path(project.envs, lock))
    python = ensure_environment(
        project.envs,
        lock,
        uv=None if ready else uv_command(project),
        python=None if ready else python_command(project),
        editable=project.root if name in EDITABLE else None,
        say=say,
    )
    if name == "control":
        _show_command(project, python.with_name("aifactory"))
    return python


def _show_command(project: Project, script: Path) -> None:
    """`.aifactory/bin/aifactory`: one place for PATH, whatever the environment is called."""
    link = project.state / "bin" / "aifactory"
    if not (link.is_symlink() and os.readlink(link) == str(script)):  # noqa: PTH115  (Python 3.9)
        link.parent.mkdir(parents=True, exist_ok=True)
        part = link.with_name(f".aifactory-{os.getpid()}")
        part.symlink_to(script)
        part.replace(link)


def uv_command(project: Project) -> list[str]:
    """uv in a small environment of its own, at the version that the lock of the control environment has."""
    pinned = next(
        line.split()[0]
        for line in (project.root / "locks" / "control.lock").read_text().splitlines()
        if line.startswith("uv==")
    )
    home = project.state / "uv"
    command = [str(environment_python(home)), "-m", "uv"]
    marker = home / ".complete"
    if marker.is_file() and marker.read_text() == pinned and environment_python(home).exists():
        return command
    python = find_python(PYTHON) or find_python("3.")
    if python is None:
        on_path = shutil.which("uv")
        if on_path:
            return [on_path]
        raise FactoryError(
            "no Python here can make an environment (the module ensurepip is missing)",
            fix=f"install Python {PYTHON} with its venv module: apt install python{PYTHON}-venv, "
            f"or pyenv install {PYTHON}",
            code="python",
        )
    say(f"installing {pinned} for {python}")
    if home.exists():
        shutil.rmtree(home)
    _run([python, "-m", "venv", str(home)], "the environment of uv could not be made")
    _run(
        [str(environment_python(home)), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", pinned],
        "uv could not be installed from PyPI",
    )
    marker.write_text(pinned)
    return command


def python_command(project: Project) -> str:
    """A Python of the project's version: of this machine, else one that uv fetches."""
    found = find_python(PYTHON)
    if found is not None:
        return found
    uv = uv_command(project)
    say(f"no Python {PYTHON} on PATH or under pyenv: asking uv to fetch one")
    fetched = subprocess.run([*uv, "python", "install", "--quiet", PYTHON], capture_output=True, text=True)
    place = subprocess.run([*uv, "python", "find", "--no-project", PYTHON], capture_output=True, text=True)
    if place.returncode:
        raise FactoryError(
            f"there is no Python {PYTHON} here, and uv could not fetch one",
            found=(fetched.stderr.strip().splitlines() or ["no message"])[-1],
            fix=f"install it (apt install python{PYTHON} python{PYTHON}-venv, or pyenv install {PYTHON}), "
            "then run the same command again",
            code="python",
        )
    return place.stdout.strip()


def find_python(version: str) -> Optional[str]:
    """The first interpreter whose version starts with `version` and which can make environments."""
    question = "import sys, ensurepip, venv; print('.'.join(map(str, sys.version_info[:3])))"
    for candidate in _candidates():
        answer = subprocess.run([candidate, "-c", question], capture_output=True, text=True)
        if answer.returncode == 0 and answer.stdout.startswith(version):
            return candidate
    return None


def _candidates() -> Iterator[str]:
    for name in (f"python{PYTHON}", "python3", "python"):
        for folder in os.get_exec_path():
            found = shutil.which(name, path=folder)
            if found:
                yield found
    asked = shutil.which("pyenv")
    roots = [os.environ.get("PYENV_ROOT"), str(Path.home() / ".pyenv")]
    if asked:
        roots.insert(0, subprocess.run([asked, "root"], capture_output=True, text=True).stdout.strip())
    seen = set()
    for root in filter(None, roots):
        for python in sorted(Path(root).glob(f"versions/{PYTHON}*/bin/python"), reverse=True):
            if python not in seen:
                seen.add(python)
                yield str(python)


def _run(command: list[str], what: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode:
        message = (done.stderr or done.stdout).strip().splitlines()[-8:]
        raise FactoryError(
            what,
            found="\n    ".join(message) or f"exit code {done.returncode} of {' '.join(command)}",
            fix="check the network and the disk, then run the same command again",
            code="environment",
        )


def say(text: str) -> None:
    """One line for the person who waits."""
    print(f"aifactory: {text}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:] or ["control"]))
