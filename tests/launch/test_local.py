"""How the process of an attempt is started."""

from __future__ import annotations

import os
from pathlib import Path

from aifactory.launch.images.copies import LocalImage
from aifactory.launch.local import spawn
from aifactory.project import Project


def test_what_a_run_writes_is_its_users_alone_to_change_whatever_the_caller_lets_others_do(tmp_path: Path) -> None:
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\numask > said\n")
    python.chmod(0o755)
    attempt = tmp_path / "attempt"
    attempt.mkdir()
    before = os.umask(0o002)
    try:
        child = spawn(
            tmp_path,
            1,
            attempt,
            kind="build",
            image=LocalImage(name="data", digest="0" * 64, path=tmp_path, python=python),
            roots=str(tmp_path),
            project=Project.current(),
        )
    finally:
        os.umask(before)
    assert child.wait(20) == 0
    assert (attempt / "said").read_text() == "0022\n"
