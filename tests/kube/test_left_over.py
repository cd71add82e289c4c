"""A cluster whose session was killed is ended by the next one; a living session's stays."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.kube.able import no_cluster
from tests.kube.server import OWNER, PREFIX, born, sweep

pytestmark = pytest.mark.skipif(no_cluster() is not None, reason=no_cluster() or "")


@pytest.fixture
def part() -> Iterator[subprocess.Popen[bytes]]:
    """Something that runs as a part of a cluster would."""
    with subprocess.Popen(["sleep", "600"]) as child:
        yield child
        child.kill()


def state(base: Path, owner: str, part: subprocess.Popen[bytes]) -> Path:
    folder = base / f"{PREFIX}x"
    (folder / "pids").mkdir(parents=True)
    (folder / "pids" / "etcd").write_text(f"{born(part.pid)}\n")
    (folder / OWNER).write_text(owner)
    return folder


def test_what_a_killed_session_left_is_ended(
    tmp_path: Path, part: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with subprocess.Popen(["sleep", "0"]) as session:
        owner = born(session.pid)
    folder = state(tmp_path, owner, part)
    sweep()
    assert part.wait(10) == -9
    assert not folder.exists()


def test_a_living_session_keeps_its_cluster(
    tmp_path: Path, part: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    folder = state(tmp_path, born(os.getpid()), part)
    sweep()
    assert part.poll() is None
    assert folder.exists()
