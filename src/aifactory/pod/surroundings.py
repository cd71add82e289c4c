"""What a process finds around itself in a pod, and what it needs."""

from __future__ import annotations

import os
import pwd
import tempfile
from pathlib import Path

UMASK = 0o022
"""What a run writes is read by all that may enter its class root, and written by its own user alone."""


def prepare() -> None:
    """Set the umask; give this process a home directory and a user's name where it has none.

    A pod's user is a number that /etc/passwd may not know: its home is then `/`, where nothing can be written, and
    libraries that ask for the user's name fail.
    """
    os.umask(UMASK)
    home = Path(os.environ.get("HOME") or "/")
    if home == Path("/") or not os.access(home, os.W_OK | os.X_OK):
        home = Path(tempfile.gettempdir()) / f"home-{os.geteuid()}"
        home.mkdir(mode=0o700, exist_ok=True)
        os.environ["HOME"] = str(home)
    try:
        pwd.getpwuid(os.geteuid())
    except KeyError:
        for name in ("USER", "LOGNAME"):
            os.environ.setdefault(name, "factory")
