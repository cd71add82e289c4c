"""One Python environment for each lock file, made by uv, shared by whoever names the same lock.

Only the standard library and syntax of Python 3.9 here: `laptop/bootstrap.py` imports this module before any
environment exists, with whatever Python the machine has.
"""

from __future__ import annotations

import fcntl
import hashlib
import importlib.util
import json
import os
import shutil
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import Callable, Iterator, Optional, Sequence

from aifactory.errors import FactoryError

PYTHON = "3.12"
MARKER = ".complete"


def environment_path(envs: Path, lock: Path) -> Path:
    """`<envs>/<name of the lock>-<first 12 hex digits of the lock file's sha256>`."""
    return envs / f"{lock.stem}-{hashlib.sha256(lock.read_bytes()).hexdigest()[:12]}"


def environment_python(env: Path) -> Path:
    """The interpreter of an environment."""
    return env / "bin" / "python"


def is_complete(env: Path) -> bool:
    """True when the environment was made to its end: the marker is written last."""
    return (env / MARKER).is_file() and environment_python(env).exists()


def find_uv() -> list[str]:
    """The command that starts uv: the module of this interpreter, else the one on PATH."""
    if importlib.util.find_spec("uv") is not None:
        return [sys.executable, "-m", "uv"]
    found = shutil.which("uv")
    if found:
        return [found]
    raise FactoryError(
        "uv is not installed in this environment", fix="run `make demo` or `make test`, which install it", code="uv"
    )


def ensure_environment(
    envs: Path,
    lock: Path,
    *,
    uv: Optional[Sequence[str]] = None,
    python: Optional[str] = None,
    editable: Optional[Path] = None,
    say: Callable[[str], None] = lambda text: None,
) -> Path:
    """Make the environment of `lock` under `envs` unless it is there, and return its interpreter.

    `editable`: a checkout to install without its dependencies, for the environments that people work in; an
    environment serves one checkout. Safe to call from several processes at once; one that is killed half-way
    leaves an environment without its marker, which the next call makes anew. Errors: FactoryError with code
    "environment" (uv failed; its last lines are in the error) or "second_checkout".
    """
    env = environment_path(envs, lock)
    if not is_complete(env):
        envs.mkdir(parents=True, exist_ok=True)
        with _alone(envs / f".{env.name}.lock"):
            if not is_complete(env):
                _make(env, lock, list(uv or find_uv()), python or sys.executable, editable, say)
    if editable is not None:
        _same_checkout(env, editable)
    return environment_python(env)


def _make(
    env: Path,
    lock: Path,
    uv: list[str],
    python: str,
    editable: Optional[Path],
    say: Callable[[str], None],
) -> None:
    say(f"making the {lock.stem} environment ({sum(1 for _ in lock.open())} packages)")
    if env.exists():
        shutil.rmtree(env)
    _run([*uv, "venv", "--quiet", "--python", python, str(env)], lock)
    inside = ["--quiet", "--python", str(environment_python(env))]
    # Compiled once here, or by every process of the first run at the same time: 20 CPU seconds each for torch and Ray.
    _run([*uv, "pip", "sync", *inside, "--compile-bytecode", str(lock)], lock)
    if editable is not None:
        # The build backend is pinned by the same resolution as everything else.
        pins = lock.with_name("dev.lock")
        constraint = ["--build-constraint", str(pins)] if pins.exists() else []
        _run([*uv, "pip", "install", *inside, "--no-deps", *constraint, "--editable", str(editable)], lock)
    marker = {"lock": hashlib.sha256(lock.read_bytes()).hexdigest(), "checkout": str(editable) if editable else None}
    part = env / (MARKER + ".part")
    part.write_text(json.dumps(marker))
    part.rename(env / MARKER)


def _same_checkout(env: Path, editable: Path) -> None:
    owner = json.loads((env / MARKER).read_text()).get("checkout")
    if owner != str(editable):
        raise FactoryError(
            f"environment {env} belongs to another checkout of this project",
            found=editable,
            expected=owner,
            fix="unset AIFACTORY_ENVS (each checkout then has its own environments), or name another folder in it",
            code="second_checkout",
        )


def _run(command: list[str], lock: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if name not in ("VIRTUAL_ENV", "PYTHONPATH")}
    done = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode:
        raise FactoryError(
            f"the environment of {lock} could not be made: `{' '.join(command)}` ended with {done.returncode}",
            found="\n    ".join(done.stderr.strip().splitlines()[-12:]) or "no message",
            fix="check the network and the disk (a first set-up downloads about 3 GB), then run the same command again",
            code="environment",
        )


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    with path.open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
