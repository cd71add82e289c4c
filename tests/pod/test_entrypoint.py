"""The entrypoint as a RayJob starts it: the spec from the ConfigMap, a mount that lags, what it prints kept."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

from aifactory.channel import Closed, Process, Reader
from aifactory.launch import Attempts, Plan
from aifactory.launch.gate.check_in import check_in
from aifactory.namespace import Namespace
from tests.launch.lab import Lab

RUN = "build-probe-000000000001"


@pytest.fixture(scope="module")
def project_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("shared") / "project"


@pytest.fixture
def lab(project_root: Path, ns: Namespace) -> Lab:
    return Lab(project_root, ns)


def recorded(lab: Lab, plan: Plan) -> Path:
    directory = plan.class_root / "runs" / RUN
    check_in(plan, directory, ns=lab.ns, project=lab.project)
    Attempts(directory).start(backend="kuberay", spec=plan.hash, writer="test", after=None)
    return directory


def mounted(tmp_path: Path, plan: Plan) -> Path:
    place = tmp_path / "etc"
    place.mkdir()
    (place / "spec.json").write_bytes(plan.spec.to_bytes())
    return place


def begin(lab: Lab, directory: Path, hash: str, place: Path, *more: str) -> subprocess.Popen[str]:
    """In an environment like a pod's: of the image and the manifest alone."""
    command = ["-m", "aifactory.run", "--run", directory, "--attempt", "1", "--spec", hash, "--spec-at", place, *more]
    return subprocess.Popen(
        [lab.image.python, *command],
        env={
            "PATH": os.environ["PATH"],
            "PYTHONPATH": f"{lab.image.path / 'src'}:{lab.image.path}",
            "PYTHONUNBUFFERED": "1",
            "AIFACTORY_ROOT": str(lab.ns.root),
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd="/",
        start_new_session=True,
    )


def closed(directory: Path) -> Closed:
    reader = Reader(directory / "attempts/00000001")
    reader.new()
    assert reader.closed is not None
    return reader.closed


def log(directory: Path) -> str:
    return (directory / "attempts/00000001/logs/driver.log").read_text()


def until(what: Path) -> None:
    end = time.monotonic() + 60
    while not what.exists():
        assert time.monotonic() < end, f"{what} never came"
        time.sleep(0.02)


def test_what_it_prints_is_shown_and_kept_and_a_second_start_of_the_attempt_is_refused(
    lab: Lab, tmp_path: Path
) -> None:
    plan = lab.plan("say")
    directory, place = recorded(lab, plan), mounted(tmp_path, plan)
    # The directory's own copy is not asked for: it may be an old one.
    (directory / "spec.json").unlink()
    child = begin(lab, directory, plan.hash, place)
    shown = child.communicate(timeout=60)[0]
    assert (child.returncode, closed(directory).outcome) == (0, "succeeded"), shown
    assert "a line of the log" in shown
    assert log(directory) == shown
    process = Process.load(directory / "attempts/00000001")
    assert process is not None
    assert process.pid == child.pid

    again = begin(lab, directory, plan.hash, place)
    said = again.communicate(timeout=60)[0]
    assert again.returncode == 3
    assert "belongs to another process" in said
    assert log(directory) == shown


def test_a_mount_that_lags_is_waited_for(lab: Lab, tmp_path: Path) -> None:
    plan = lab.plan("say")
    directory = recorded(lab, plan)
    late = directory.with_name("late")
    shutil.copytree(directory, late)
    shutil.rmtree(directory)
    child = begin(lab, directory, plan.hash, tmp_path / "no-config-map", "--lag", "60")
    assert child.stdout is not None
    first = child.stdout.readline()
    shutil.copytree(late / "attempts/00000001", directory / "attempts/00000001")
    until(directory / "attempts/00000001/process.json")
    for name in ("spec.json", "context.json", "attempts/@journal"):
        time.sleep(0.6)
        assert child.poll() is None
        copy = shutil.copytree if (late / name).is_dir() else shutil.copy
        copy(late / name, directory / name)
    shown = first + child.communicate(timeout=60)[0]
    assert (child.returncode, closed(directory).outcome) == (0, "succeeded"), shown
    for what in ("the directory 00000001", "spec.json", "the attempt's record"):
        assert f"{what} is not here yet: waiting" in shown


@pytest.mark.parametrize("what", ["config map", "record", "hash", "no record"])
def test_what_does_not_name_one_spec_is_not_run(lab: Lab, tmp_path: Path, what: str) -> None:
    plan, other = lab.plan("say", text="mine"), lab.plan("say", text="theirs")
    directory, place = recorded(lab, plan), mounted(tmp_path, plan)
    hash = plan.hash
    if what == "config map":
        (place / "spec.json").write_bytes(other.spec.to_bytes())
    elif what == "record":
        shutil.rmtree(directory / "attempts/@journal")
        Attempts(directory).start(backend="kuberay", spec=other.hash, writer="test", after=None)
    elif what == "hash":
        hash = other.hash
    else:
        shutil.rmtree(directory / "attempts/@journal")
    child = begin(lab, directory, hash, place, "--lag", "1")
    shown = child.communicate(timeout=60)[0]
    assert child.returncode == 1
    error = closed(directory).error
    assert error is not None
    assert error.text.splitlines()[0] in shown
    assert ("never recorded" if what == "no record" else hash) in error.text


def test_a_directory_that_never_comes_is_named(lab: Lab, tmp_path: Path) -> None:
    plan = lab.plan("say")
    child = begin(lab, lab.ns.root / "public/runs" / RUN, plan.hash, mounted(tmp_path, plan), "--lag", "1")
    shown = child.communicate(timeout=60)[0]
    assert child.returncode == 1
    assert "attempts/00000001 is not there" in shown


def test_of_a_private_run_nothing_is_printed_to_ray(lab: Lab, tmp_path: Path) -> None:
    plan = lab.plan("say", key="private/ward/out")
    directory, place = recorded(lab, plan), mounted(tmp_path, plan)
    shown = begin(lab, directory, plan.hash, place).communicate(timeout=60)[0]
    assert closed(directory).outcome == "succeeded"
    assert shown == "a private run: what it prints stays in its directory\n"
    assert "a line of the log" in log(directory)


def test_the_last_words_of_a_killed_process_are_kept(lab: Lab, tmp_path: Path) -> None:
    plan = lab.plan("vanish")
    directory, place = recorded(lab, plan), mounted(tmp_path, plan)
    child = begin(lab, directory, plan.hash, place)
    assert "last words" in child.communicate(timeout=60)[0]
    assert child.returncode == -signal.SIGKILL
    assert "last words" in log(directory)
