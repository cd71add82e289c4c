"""Making an old image again from git."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from aifactory.errors import FactoryError
from aifactory.project import Project
from aifactory.spec import ImageName, ImageRef
from aifactory.spec.git import run_git


def rebuild(image: ImageRef, commit: str | None) -> str:
    """The command that makes the image again, given the commit that its spec was resolved at."""
    known = commit or "<the commit that the spec was resolved at>"
    return f"aifactory image build {image.name} --commit {known} --expect {image.digest[:16]}"


def build_at(project: Project, name: ImageName, commit: str, *, expect: str = "") -> str:
    """Make the image `name` of a commit, by the code of that commit, and return its digest.

    `expect`: what the digest begins with. Raises FactoryError: "unknown_commit" for one that git here doesn't know,
    "image_build" when that commit's code fails (its last lines are in the error), "image_other" when the image, which
    is kept, is not the expected one.
    """
    full = _resolve(project, commit)
    with tempfile.TemporaryDirectory(prefix="aifactory-image-") as folder:
        checkout = Path(folder) / "checkout"
        # No hook of the checkout has a say in what an image holds.
        quiet = ("-c", "core.hooksPath=/dev/null", "worktree")
        try:
            run_git(project.root, *quiet, "add", "--quiet", "--detach", str(checkout), full)
            inside = run_git(project.root, "rev-parse", "--show-prefix").decode().strip()
            digest = _make(project, name, checkout / inside, full)
        except subprocess.CalledProcessError as error:
            raise _failed(name, full, error.stderr.decode(errors="replace")) from error
        finally:
            subprocess.run(
                ["git", *quiet, "remove", "--force", str(checkout)], cwd=project.root, capture_output=True, check=False
            )
    if not digest.startswith(expect):
        raise FactoryError(
            f"the commit {full[:12]} makes another image {name}",
            found=digest,
            expected=expect,
            fix="name the commit that the spec was resolved at; a spec that was resolved from uncommitted changes "
            "(`dirty` in its context) can't be made again from git alone",
            code="image_other",
        )
    return digest


def _resolve(project: Project, commit: str) -> str:
    name = f"{commit}^{{commit}}"
    try:
        return run_git(project.root, "rev-parse", "--verify", "--end-of-options", name).decode().strip()
    except (OSError, subprocess.CalledProcessError) as error:
        raise FactoryError(
            f"git in {project.root} doesn't know the commit {commit}",
            found=commit,
            fix="fetch it (`git fetch --all`), or name another",
            code="unknown_commit",
        ) from error


def _make(project: Project, name: ImageName, root: Path, commit: str) -> str:
    """By the code of the commit, since what an image is made of is decided there."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    environment = kept | {
        "AIFACTORY_PROJECT": str(root),
        "AIFACTORY_STATE": str(project.state),
        "AIFACTORY_ENVS": str(project.envs),
        "AIFACTORY_ROOT": str(project.namespace),
        # A project that holds no machinery is built by the one that runs this.
        "PYTHONPATH": f"{root / 'src'}{os.pathsep}{project.package.parent}",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    command = [sys.executable, "-m", "aifactory.launch.images.copies", name]
    done = subprocess.run(
        command, env=environment, cwd=project.root, stdin=subprocess.DEVNULL, capture_output=True, text=True
    )
    if done.returncode:
        raise _failed(name, commit, done.stderr)
    return done.stdout.split()[0]


def _failed(name: str, commit: str, said: str) -> FactoryError:
    return FactoryError(
        f"the image {name} of the commit {commit[:12]} could not be made",
        found="\n    ".join(said.strip().splitlines()[-6:]) or "no message",
        fix="check out that commit in a clone of its own and run `aifactory image path` there",
        code="image_build",
    )
