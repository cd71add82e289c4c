"""What a process finds around itself as a user that /etc/passwd does not know."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

CODE = """
import getpass, os, pathlib
from aifactory.pod import prepare
# Now, since this interpreter may stand where that user can't read.
os.setgroups([])
os.setgid(4321)
os.setuid(4321)
prepare()
print(getpass.getuser())
home = pathlib.Path.home()
(home / "written").write_text("x")
print(home, oct(os.umask(0)))
"""


@pytest.fixture
def temporary() -> Iterator[Path]:
    """Where anybody may write; pytest's own is its user's alone."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o777)
        yield Path(name)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_an_unknown_user_gets_a_name_a_home_and_a_umask(temporary: Path) -> None:
    path = os.pathsep.join(one for one in sys.path if one)
    done = subprocess.run(
        [sys.executable, "-c", CODE],
        env={"TMPDIR": str(temporary), "PYTHONPATH": path, "HOME": "/"},
        umask=0o077,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    name, rest = done.stdout.split("\n", 1)
    assert (name, rest.strip()) == ("factory", f"{temporary / 'home-4321'} 0o22")
