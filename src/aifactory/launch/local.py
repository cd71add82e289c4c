"""Backend `local`: an attempt is a process on this machine, in a session of its own."""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from aifactory.channel.logs import driver_log
from aifactory.launch.images.copies import LocalImage
from aifactory.launch.runs.session import MARK
from aifactory.project import Project

NICE = {"train": 10}
"""CPU priority by kind: evaluations run beside a training and must not wait for it."""

CROSSING = ("AIFACTORY_RESTRICTED", "AIFACTORY_CROSSING_KEY_FILE", "AIFACTORY_CROSSING_KEY")
DROPPED = ("DAGSTER_", "PYTHON", "VIRTUAL_ENV", "AIFACTORY_", "CONDA_", "PYTEST_", "COVERAGE_")


def spawn(
    directory: Path,
    attempt: int,
    attempt_directory: Path,
    *,
    kind: str,
    image: LocalImage,
    roots: str,
    project: Project,
) -> subprocess.Popen[bytes]:
    """Start the entrypoint of `image` on an attempt. It outlives this process: it has its own session, and writes to
    files only. Raises OSError where it can't be started."""
    log = driver_log(attempt_directory)
    log.parent.mkdir(parents=True, exist_ok=True)
    command = [str(image.python), "-m", "aifactory.run", "--run", str(directory), "--attempt", str(attempt)]
    with log.open("ab") as out:
        child = subprocess.Popen(
            command,
            cwd=attempt_directory,
            env=environment(os.environ, attempt_directory, image=image, roots=roots, project=project),
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            # What a run writes is read by all that may enter its class root, and written by its own user alone.
            umask=0o022,
        )
    if nice := NICE.get(kind):
        os.setpriority(os.PRIO_PROCESS, child.pid, nice)
        # Where the kernel groups processes by session, a nice value only counts inside its group.
        with suppress(OSError):
            Path(f"/proc/{child.pid}/autogroup").write_text(str(nice))
    # Whoever started it may be gone from the watch (detached) when it ends: nobody else would reap it.
    threading.Thread(target=child.wait, daemon=True, name=f"reap-{child.pid}").start()
    return child


def environment(
    base: Mapping[str, str], attempt_directory: Path, *, image: LocalImage, roots: str, project: Project
) -> dict[str, str]:
    """The environment of an attempt: the caller's, less what would let his checkout or his Dagster reach the run.
    `roots` is what AIFACTORY_ROOT says in it."""
    kept = {name: value for name, value in base.items() if not name.startswith(DROPPED)}
    if mirror := base.get("AIFACTORY_MIRROR"):
        kept["AIFACTORY_MIRROR"] = str(Path(mirror).resolve())
    if image.name == "crossing":
        # Nobody else is told where the zone is, nor given its key.
        kept |= {name: base[name] for name in CROSSING if name in base}
    return kept | {
        "PYTHONPATH": f"{image.path / 'src'}:{image.path}",
        "PYTHONUNBUFFERED": "1",
        "PYTHONNOUSERSITE": "1",
        "PYTHONHASHSEED": "0",
        "AIFACTORY_ROOT": roots,
        "AIFACTORY_PROJECT": str(image.path),
        "AIFACTORY_STATE": str(project.state),
        MARK: str(attempt_directory),
    }
