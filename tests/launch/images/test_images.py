"""Images of the laptop: whole copies, made once, that no edit reaches."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from aifactory.errors import FactoryError
from aifactory.launch import GateRefused, ensure_image, launch, list_images
from tests.launch.lab import Lab


def test_an_image_holds_what_runs_and_nothing_that_launches(lab: Lab) -> None:
    inside = {path.relative_to(lab.image.path).as_posix() for path in lab.image.path.rglob("*.py")}
    assert {"src/aifactory/run.py", "assets/probe.py"} <= inside
    assert not [name for name in inside if name.startswith(("src/aifactory/launch", "src/aifactory/orchestrate"))]
    assert not [path for path in lab.image.path.rglob("*") if path.is_file() and path.stat().st_mode & 0o222]


def test_many_calls_at_once_make_one_image(own_lab: Lab) -> None:
    own_lab.write("assets/more.py", "MORE = 1\n")
    with ThreadPoolExecutor(6) as pool:
        made = set(pool.map(lambda _: ensure_image(own_lab.project, "data"), range(6)))
    (image,) = made
    assert image.digest != own_lab.image.digest
    assert {summary.digest for summary in list_images(own_lab.project)} == {image.digest, own_lab.image.digest}
    assert sorted(path.name for path in image.path.parent.iterdir()) == sorted({image.digest, own_lab.image.digest})


def test_an_old_image_serves_after_the_checkout_has_moved_on(own_lab: Lab) -> None:
    old = own_lab.image
    own_lab.write("assets/more.py", "MORE = 1\n")
    assert ensure_image(own_lab.project, "data", old.digest) == old


def test_an_altered_image_is_not_run(own_lab: Lab) -> None:
    path = own_lab.image.path / "assets/probe.py"
    path.chmod(0o644)
    path.write_text("# altered\n")
    with pytest.raises(FactoryError) as caught:
        launch(own_lab.plan("say"), run="build-say-1", project=own_lab.project, ns=own_lab.ns)
    assert caught.value.code == "image_altered"
    assert str(own_lab.image.path) in caught.value.fix


def test_a_spec_whose_image_is_gone_is_refused_with_the_command_that_rebuilds_it(own_lab: Lab) -> None:
    root = own_lab.project.root

    def git(*arguments: str) -> str:
        identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
        return subprocess.run(
            ["git", *identity, *arguments], cwd=root, check=True, capture_output=True, text=True
        ).stdout.strip()

    (root / ".gitignore").write_text(".aifactory/\n__pycache__/\n")
    git("init", "-q")
    git("add", "-A")
    git("commit", "-qm", "old")
    commit = git("rev-parse", "HEAD")
    plan = own_lab.plan("say", context={"commit": commit})
    subprocess.run(["chmod", "-R", "u+w", own_lab.image.path], check=True)
    subprocess.run(["rm", "-r", own_lab.image.path], check=True)
    own_lab.write("assets/probe.py", "def other(job):\n    pass\n")
    with pytest.raises(GateRefused) as caught:
        launch(plan, run="build-say-1", project=own_lab.project, ns=own_lab.ns)
    (refusal,) = caught.value.refusals
    assert refusal.code == "image_gone"
    assert commit in refusal.fix
    command = [sys.executable, "-m", "aifactory.cli", *refusal.fix.split()[1:]]
    subprocess.run(command, check=True, env=own_lab.environment)
    assert git("worktree", "list").count("\n") == 0
    result = launch(plan, run="build-say-2", project=own_lab.project, ns=own_lab.ns)
    assert result.outcome == "succeeded"
