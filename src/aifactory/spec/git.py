"""What git says about a checkout: commit, whether files differ from it, and the digest of how."""

from __future__ import annotations

import hashlib
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from aifactory.spec.context import NO_COMMIT
from aifactory.store import hash_file


@dataclass(frozen=True)
class GitFacts:
    """`digest` covers the diff against the commit and every untracked file that git doesn't ignore; None when clean.
    Without a commit, `note` says so and why: a run whose code can't be found again is never a silent one."""

    commit: str | None
    dirty: bool
    digest: str | None
    note: str = ""


def git_facts(root: Path) -> GitFacts:
    """The facts of the checkout at `root`; never raises for a folder that is none."""
    try:
        commit = run_git(root, "rev-parse", "--verify", "HEAD").decode().strip()
        diff = run_git(root, "diff", "--binary", "--no-color", "--no-ext-diff", "--no-textconv", "HEAD", "--", ".")
        listed = run_git(root, "ls-files", "--others", "--exclude-standard", "-z")
    except FileNotFoundError:
        return _unknown(root, "git is not installed, or the folder does not exist")
    except subprocess.CalledProcessError as error:
        return _unknown(root, error.stderr.decode(errors="replace").strip() or "git gave no reason")
    untracked = sorted(name for name in listed.split(b"\0") if name)
    if not diff and not untracked:
        return GitFacts(commit=commit, dirty=False, digest=None)
    total = hashlib.sha256(diff)
    for name in untracked:
        path = root / os.fsdecode(name)
        content = hash_file(path)[1] if path.is_file() else "no file"
        total.update(b"\0" + name + b"\0" + content.encode())
    return GitFacts(commit=commit, dirty=True, digest=total.hexdigest())


def _unknown(root: Path, reason: str) -> GitFacts:
    return GitFacts(commit=None, dirty=False, digest=None, note=f"{NO_COMMIT} ({root}: {reason})")


def run_git(root: Path, *arguments: str) -> bytes:
    """What git prints in the checkout at `root`. FileNotFoundError (no git, no folder) or CalledProcessError."""
    # Inside a git hook GIT_DIR and its like point at that hook's repository, not at `root`.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment |= {"GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}
    command = ["git", *arguments]
    return subprocess.run(command, cwd=root, env=environment, check=True, capture_output=True).stdout
