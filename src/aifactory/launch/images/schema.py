"""How the code of an image reads a spec: the digest of its config types, computed by that code itself."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ABOUT = "image.json"
ASK = "import sys; sys.path.insert(0, sys.argv[1]); from aifactory.spec import config_schema; print(config_schema())"
SECONDS = 60
_KNOWN: dict[tuple[str, Path], str] = {}


def schema_of_copy(copy: Path) -> str:
    """What was recorded when the image was made; computed where an older release recorded nothing."""
    about = copy / ABOUT
    recorded = json.loads(about.read_bytes()).get("config_schema") if about.is_file() else None
    return str(recorded) if recorded else schema_of(copy.name, copy / "src")


def schema_of(digest: str, source: Path) -> str:
    """The digest that the code under `source` computes, in a process of its own: this process may have imported other
    code of the same names. `digest` names the image with that code. Code that can't answer is answered for in words,
    which equal no digest."""
    if (digest, source) in _KNOWN:
        return _KNOWN[digest, source]
    # Without the user's own packages; and no byte code is written into a copy that nobody may change.
    command = [sys.executable, "-B", "-s", "-c", ASK, str(source)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, stdin=subprocess.DEVNULL)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"unknown: {type(error).__name__}"
    if done.returncode:
        return f"unknown: {(done.stderr.strip().splitlines() or ['no message'])[-1]}"
    return _KNOWN.setdefault((digest, source), done.stdout.strip())
