"""Attempts as the launcher starts them on this machine, with a Ray of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import psutil

from aifactory.launch.runs.attempts import Attempts
from aifactory.spec import Train
from tests.train.lab import Lab, train_job

START_SECONDS = 280


def start(lab: Lab, config: Train, run: str, temporary: Path) -> tuple[subprocess.Popen[bytes], Path]:
    """An attempt as the launcher starts it: the entrypoint in a session of its own."""
    job = train_job(lab, config, run)
    (job.directory / "spec.json").write_bytes(job.spec.to_bytes())
    (job.directory / "context.json").write_bytes(job.context.to_bytes())
    Attempts(job.directory).start(backend="local", spec=job.spec.hash, writer="test", after=None)
    (job.attempt_directory / "logs").mkdir()
    env = os.environ | {
        "AIFACTORY_ROOT": str(lab.root),
        "TMPDIR": str(temporary),
        "PYTHONPATH": os.pathsep.join(sys.path),
    }
    with (job.attempt_directory / "logs" / "driver.log").open("ab") as log:
        child = subprocess.Popen(
            [sys.executable, "-m", "aifactory.run", "--run", str(job.directory), "--attempt", "1"],
            stdout=log,
            stderr=log,
            env=env,
            start_new_session=True,
        )
    return child, job.attempt_directory


def session(child: subprocess.Popen[bytes]) -> list[int]:
    """Living processes of the attempt's session."""
    found = []
    for process in psutil.process_iter(["status"]):
        try:
            if os.getsid(process.pid) == child.pid and process.info["status"] != psutil.STATUS_ZOMBIE:
                found.append(process.pid)
        except (ProcessLookupError, PermissionError):
            continue
    return found
