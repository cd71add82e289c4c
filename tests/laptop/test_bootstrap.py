"""From a bare machine to an environment. Nothing is downloaded here: uv is a small script that does what it is told."""

import json
import os
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from aifactory.environments import ensure_environment, environment_path, is_complete
from aifactory.errors import FactoryError

ROOT = Path(__file__).resolve().parents[2]
BOOTSTRAP = ROOT / "src" / "aifactory" / "laptop" / "bootstrap.sh"

UV = """#!{python}
import pathlib, sys, time
words = sys.argv[1:]
with open({log!r}, "a") as log:
    log.write(" ".join(words) + "\\n")
if words[0] == "venv":
    place = pathlib.Path(words[-1], "bin")
    place.mkdir(parents=True)
    (place / "python").symlink_to(sys.executable)
    time.sleep({pause})
elif words[:2] == ["pip", "sync"] and {fails}:
    sys.exit("no such package: nothing==1")
"""


class FakeUv:
    def __init__(self, folder: Path, *, fails: bool = False, pause: float = 0.0):
        self.log = folder / "uv.log"
        self.script = folder / "uv"
        self.script.write_text(UV.format(python=sys.executable, log=str(self.log), fails=fails, pause=pause))
        self.script.chmod(self.script.stat().st_mode | stat.S_IXUSR)

    @property
    def command(self) -> list[str]:
        return [str(self.script)]

    @property
    def calls(self) -> list[str]:
        return self.log.read_text().splitlines() if self.log.exists() else []


@pytest.fixture
def lock(tmp_path: Path) -> Path:
    path = tmp_path / "locks" / "small.lock"
    path.parent.mkdir()
    path.write_text("nothing==1\n")
    return path


def test_an_environment_is_made_once_and_named_after_its_lock(tmp_path: Path, lock: Path):
    uv = FakeUv(tmp_path)
    first = ensure_environment(tmp_path / "envs", lock, uv=uv.command)
    second = ensure_environment(tmp_path / "envs", lock, uv=uv.command)
    assert first == second == environment_path(tmp_path / "envs", lock) / "bin" / "python"
    assert len(uv.calls) == 2
    lock.write_text("nothing==2\n")
    assert ensure_environment(tmp_path / "envs", lock, uv=uv.command) != first


def test_an_environment_that_was_interrupted_is_made_anew(tmp_path: Path, lock: Path):
    uv = FakeUv(tmp_path)
    env = environment_path(tmp_path / "envs", lock)
    (env / "bin").mkdir(parents=True)
    (env / "half").write_text("installed")
    ensure_environment(tmp_path / "envs", lock, uv=uv.command)
    assert is_complete(env)
    assert not (env / "half").exists()


def test_a_failure_of_uv_says_what_uv_said_and_leaves_nothing_complete(tmp_path: Path, lock: Path):
    with pytest.raises(FactoryError) as caught:
        ensure_environment(tmp_path / "envs", lock, uv=FakeUv(tmp_path, fails=True).command)
    assert caught.value.code == "environment"
    assert "no such package: nothing==1" in str(caught.value)
    assert not is_complete(environment_path(tmp_path / "envs", lock))


def test_two_processes_make_one_environment_together(tmp_path: Path, lock: Path):
    uv = FakeUv(tmp_path, pause=0.5)
    script = (
        "import sys; from pathlib import Path; from aifactory.environments import ensure_environment\n"
        "print(ensure_environment(Path(sys.argv[1]), Path(sys.argv[2]), uv=[sys.argv[3]]))"
    )
    command = [sys.executable, "-c", script, str(tmp_path / "envs"), str(lock), str(uv.script)]
    both = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    answers = {process.communicate(timeout=60)[0] for process in both}
    assert [process.returncode for process in both] == [0, 0]
    assert len(answers) == 1
    assert [call.split()[0] for call in uv.calls] == ["venv", "pip"]


def test_an_environment_of_another_checkout_is_refused_by_name(tmp_path: Path, lock: Path):
    uv = FakeUv(tmp_path)
    ensure_environment(tmp_path / "envs", lock, uv=uv.command, editable=tmp_path / "one")
    with pytest.raises(FactoryError) as caught:
        ensure_environment(tmp_path / "envs", lock, uv=uv.command, editable=tmp_path / "two")
    assert caught.value.code == "second_checkout"
    assert str(tmp_path / "one") in str(caught.value)
    assert str(tmp_path / "two") in str(caught.value)


def bare_checkout(folder: Path) -> Path:
    """A checkout whose control environment is there already."""
    checkout = folder / "checkout"
    package = checkout / "src" / "aifactory"
    (package / "laptop").mkdir(parents=True)
    (checkout / "locks").mkdir()
    for name in ("__init__.py", "errors.py", "roots.py", "project.py", "environments.py"):
        (package / name).write_bytes((ROOT / "src" / "aifactory" / name).read_bytes())
    for name in ("bootstrap.py", "bootstrap.sh"):
        (package / "laptop" / name).write_bytes(BOOTSTRAP.with_name(name).read_bytes())
    lock = checkout / "locks" / "control.lock"
    lock.write_text("uv==0.0.1\n")
    env = environment_path(checkout / ".aifactory" / "envs", lock)
    (env / "bin").mkdir(parents=True)
    (env / "bin" / "python").symlink_to(sys.executable)
    (env / ".complete").write_text(json.dumps({"lock": "", "checkout": str(checkout.resolve())}))
    return checkout


def clean(path: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("AIFACTORY_", "PYTHON", "PYENV"))}
    return kept | {"PATH": path, "HOME": "/nonexistent"}


def test_a_second_start_prints_the_interpreter_within_a_second(tmp_path: Path):
    checkout = bare_checkout(tmp_path)
    # The first start leaves an interpreter of its own, which the next ones need not look for.
    left = checkout / ".aifactory" / "uv" / "bin" / "python"
    left.parent.mkdir(parents=True)
    left.symlink_to(sys.executable)
    command = ["/bin/sh", str(checkout / "src/aifactory/laptop/bootstrap.sh"), "control"]
    taken = []
    for _ in range(5):
        began = time.monotonic()
        done = subprocess.run(command, env=clean(os.environ["PATH"]), capture_output=True, text=True)
        taken.append(time.monotonic() - began)
        assert done.returncode == 0, done.stderr
        assert done.stderr == ""
    assert min(taken) < 1.0
    (env,) = (checkout / ".aifactory" / "envs").glob("control-*")
    assert done.stdout.strip() == str(env / "bin" / "python")
    assert (checkout / ".aifactory" / "bin" / "aifactory").readlink() == env / "bin" / "aifactory"


def test_a_machine_without_python_is_told_what_to_install(tmp_path: Path):
    checkout = bare_checkout(tmp_path)
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "dirname").symlink_to("/usr/bin/dirname")
    command = ["/bin/sh", str(checkout / "src/aifactory/laptop/bootstrap.sh"), "control"]
    done = subprocess.run(command, env=clean(str(tools)), capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stdout == ""
    assert "install Python 3.12" in done.stderr
