"""What a process finds around itself in a pod, and what it needs."""

from __future__ import annotations

import os
import pwd
import tempfile
from pathlib import Path

GRACE = "AIFACTORY_GRACE_SECONDS"
"""How long a pod may take to end, as its manifest says."""
MARGIN_SECONDS = 15.0
"""Of a pod's grace, for closing the channel and for Ray's own end."""
LAPTOP_SECONDS = 2.0
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


def stop_seconds() -> float:
    """How long work that was told to stop may take to save what it has, before it is ended where it is."""
    grace = os.environ.get(GRACE)
    return LAPTOP_SECONDS if not grace else max(float(grace) - MARGIN_SECONDS, float(grace) / 2)
