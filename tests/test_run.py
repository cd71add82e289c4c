"""The entrypoint: one process per attempt, a verified spec, and an end that is always said."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from aifactory.channel import Closed, Commands, Reader, Writer
from aifactory.launch import Attempts, Plan
from aifactory.launch.gate.check_in import check_in
from aifactory.launch.local import environment
from aifactory.namespace import Namespace
from tests.launch.lab import Lab

RUN = "build-probe-000000000001"


@pytest.fixture(scope="module")
def project_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("shared") / "project"


@pytest.fixture
def lab(project_root: Path, ns: Namespace) -> Lab:
    """A project that the tests of this file share, with a namespace of the test's own."""
    return Lab(project_root, ns)


def recorded(lab: Lab, plan: Plan) -> Path:
    """The run's directory with its first attempt recorded."""
    directory = plan.class_root / "runs" / RUN
    check_in(plan, directory, ns=lab.ns, project=lab.project)
    Attempts(directory).start(backend="local", spec=plan.hash, writer="test", after=None)
    return directory


def begin(lab: Lab, directory: Path, attempt: int = 1) -> subprocess.Popen[str]:
    path = directory / "attempts" / f"{attempt:08d}"
    return subprocess.Popen(
        [lab.image.python, "-m", "aifactory.run", "--run", directory, "--attempt", str(attempt)],
        env=environment(os.environ, path, image=lab.image, roots=lab.ns.variable, project=lab.project),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def closed(directory: Path, attempt: int = 1) -> Closed:
    reader = Reader(directory / "attempts" / f"{attempt:08d}")
    reader.new()
    assert reader.closed is not None
    return reader.closed


def until_it_waits(directory: Path) -> None:
    end = time.monotonic() + 20
    while len(list(directory.glob("attempts/00000001/messages/*.json"))) < 2:
        assert time.monotonic() < end, "it never began"
        time.sleep(0.02)


def test_of_two_processes_of_one_attempt_the_second_exits_and_says_nothing(lab: Lab) -> None:
    directory = recorded(lab, lab.plan("wait", seconds=2.0))
    children = [begin(lab, directory), begin(lab, directory)]
    outputs = [child.communicate(timeout=60)[0] for child in children]
    assert sorted(child.returncode for child in children) == [0, 3]
    assert sum("belongs to another process" in output for output in outputs) == 1
    assert (closed(directory).outcome, closed(directory).count) == ("succeeded", 4)


def test_a_spec_that_was_edited_after_its_attempt_was_recorded_is_not_run(lab: Lab) -> None:
    directory = recorded(lab, lab.plan("say", text="mine"))
    spec = directory / "spec.json"
    spec.chmod(0o644)
    spec.write_text(spec.read_text().replace("mine", "theirs"))
    child = begin(lab, directory)
    output = child.communicate(timeout=60)[0]
    assert child.returncode == 1
    assert "edited" in output
    end = closed(directory)
    assert (end.outcome, end.count) == ("failed_code", 1)
    assert end.error is not None
    assert str(spec) in end.error.text


def test_another_whole_spec_in_its_place_is_not_run_either(lab: Lab) -> None:
    directory = recorded(lab, lab.plan("say", text="mine"))
    spec = directory / "spec.json"
    spec.chmod(0o644)
    spec.write_bytes(lab.plan("say", text="theirs").spec.to_bytes())
    assert begin(lab, directory).wait(timeout=60) == 1
    assert closed(directory).outcome == "failed_code"


def test_an_attempt_that_was_never_recorded_is_not_run(lab: Lab) -> None:
    directory = recorded(lab, lab.plan("say"))
    (directory / "attempts/00000002").mkdir()
    assert begin(lab, directory, 2).wait(timeout=60) == 1
    error = closed(directory, 2).error
    assert error is not None
    assert "never recorded" in error.text
    assert begin(lab, directory, 3).wait(timeout=60) == 2


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_as_cancelled(lab: Lab, number: signal.Signals) -> None:
    directory = recorded(lab, lab.plan("wait"))
    child = begin(lab, directory)
    until_it_waits(directory)
    child.send_signal(number)
    child.communicate(timeout=10)
    assert child.returncode == 143
    assert closed(directory).outcome == "cancelled"


def test_the_stop_command_is_acknowledged_and_ends_it_as_cancelled(lab: Lab) -> None:
    directory = recorded(lab, lab.plan("wait"))
    child = begin(lab, directory)
    until_it_waits(directory)
    commands = Commands(directory / "attempts/00000001")
    commands.send("stop")
    child.communicate(timeout=10)
    assert child.returncode == 143
    assert closed(directory).outcome == "cancelled"
    assert commands.acknowledged() == {1: "taken"}


def test_progress_that_waits_is_sent_although_nothing_follows_it(lab: Lab) -> None:
    directory = recorded(lab, lab.plan("linger"))
    child = begin(lab, directory)
    until_it_waits(directory)
    end = time.monotonic() + 10
    while True:
        said = [m.payload for m in Reader(directory / "attempts/00000001").new()]
        if [getattr(one, "done", None) for one in said][-1:] == [9]:
            break
        assert time.monotonic() < end, said
        time.sleep(0.1)
    child.kill()
    child.communicate()


def test_a_writer_that_cannot_write_ends_the_process_with_an_error(lab: Lab) -> None:
    directory = recorded(lab, lab.plan("say"))
    with Writer(directory / "attempts/00000001"):
        pass  # somebody has closed the channel
    child = begin(lab, directory)
    output = child.communicate(timeout=60)[0]
    assert child.returncode == 1
    assert "closed" in output
