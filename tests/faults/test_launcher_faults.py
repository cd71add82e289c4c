"""Launchers and attempts that are killed, raced, cancelled and flooded."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from aifactory.channel import Note, Process
from aifactory.launch import Attempts, launch, runs, stop
from tests.faults.launchers import attempt, kill, launcher, lives, process_of, starts, until
from tests.launch.lab import Lab

RUN = "build-probe-000000000001"


def test_a_launcher_that_is_killed_and_started_again_adopts_the_run(lab: Lab, tmp_path: Path) -> None:
    go = tmp_path / "go"
    plan = lab.plan("wait", file=str(go))
    with launcher(lab, plan.hash, RUN) as first:
        process = process_of(lab, RUN)
        kill(first.pid)
        first.wait()
    assert process.alive()
    changes: list[str] = []

    def change(text: str) -> None:
        changes.append(text)
        if "adopted" in text:
            go.touch()

    result = launch(plan, run=RUN, on_change=change, project=lab.project, ns=lab.ns)
    assert (result.outcome, result.attempt, result.launched) == ("succeeded", 1, False)
    assert [m.payload.text for m in result.messages if isinstance(m.payload, Note)] == ["waiting", "done"]
    assert Process.load(attempt(lab, RUN)) == process
    assert starts(lab, RUN) == 1


def test_a_run_that_ended_while_no_launcher_lived_is_replayed(lab: Lab, tmp_path: Path) -> None:
    go = tmp_path / "go"
    plan = lab.plan("wait", file=str(go))
    with launcher(lab, plan.hash, RUN) as first:
        process = process_of(lab, RUN)
        kill(first.pid)
    go.touch()
    until(lambda: not process.alive())
    result = launch(plan, run=RUN, project=lab.project, ns=lab.ns)
    assert (result.outcome, result.attempt, result.launched) == ("succeeded", 1, False)
    assert starts(lab, RUN) == 1


def test_a_launcher_killed_before_it_started_the_process_is_followed_by_one_that_does(lab: Lab) -> None:
    plan = lab.plan("say")
    directory = lab.ns.root / "public/runs" / RUN
    assert Attempts(directory).start(backend="local", spec=plan.hash, writer="killed", after=None) is not None
    result = launch(plan, run=RUN, project=lab.project, ns=lab.ns)
    assert (result.outcome, result.attempt) == ("succeeded", 1)
    assert starts(lab, RUN) == 1


def test_two_launchers_at_once_make_one_process(lab: Lab) -> None:
    plan = lab.plan("wait", seconds=1.5)
    with launcher(lab, plan.hash, RUN) as first, launcher(lab, plan.hash, RUN) as second:
        said = [process.communicate(timeout=60)[0] for process in (first, second)]
    results = [text.rpartition("RESULT ")[2].split() for text in said]
    assert [result[:2] for result in results] == [["succeeded", "1"], ["succeeded", "1"]]
    assert sorted(result[2] for result in results) == ["False", "True"]
    assert starts(lab, RUN) == 1


def test_an_attempt_that_is_killed_is_lost_and_the_next_launch_makes_a_new_one(lab: Lab) -> None:
    plan = lab.plan("vanish")
    result = launch(plan, run=RUN, project=lab.project, ns=lab.ns)
    assert (result.outcome, result.attempt) == ("lost", 1)
    assert result.error is not None
    assert "signal 9" in result.error.text
    assert "last words" in result.error.trace
    assert [run.state for run in runs(lab.ns)] == ["lost"]
    again = launch(plan, run=RUN, project=lab.project, ns=lab.ns)
    assert (again.outcome, again.attempt, again.launched) == ("lost", 2, True)


def test_an_adopted_attempt_that_is_killed_is_lost_with_its_signal_unknown(lab: Lab) -> None:
    plan = lab.plan("wait")
    with launcher(lab, plan.hash, RUN) as first:
        process = process_of(lab, RUN)
        kill(first.pid)

    def change(text: str) -> None:
        if "adopted" in text:
            kill(process.pid)

    result = launch(plan, run=RUN, on_change=change, project=lab.project, ns=lab.ns)
    assert (result.outcome, result.attempt) == ("lost", 1)
    assert result.error is not None
    assert "unknown" in result.error.text


def test_a_cancel_ends_every_descendant_within_ten_seconds(lab: Lab, tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    begun: list[float] = []

    def told() -> bool:
        if pids.exists() and len(pids.read_text().split()) == 3:
            begun.append(time.monotonic())
        return bool(begun)

    result = launch(lab.plan("family", pids=str(pids)), run=RUN, stop=told, project=lab.project, ns=lab.ns)
    assert time.monotonic() - begun[0] < 10
    assert result.outcome == "cancelled"
    assert [pid for pid in map(int, pids.read_text().split()) if lives(pid)] == []
    again = launch(lab.plan("family", pids=str(pids)), run=RUN, project=lab.project, ns=lab.ns)
    assert (again.outcome, again.attempt) == ("cancelled", 1)


def test_what_a_run_leaves_running_is_ended_with_it(own_lab: Lab, tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    own_lab.write(
        "assets/leaver.py",
        "import subprocess, sys\nfrom pathlib import Path\n"
        "def leave(job, pids):\n"
        "    child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'], process_group=0)\n"
        "    Path(pids).write_text(str(child.pid))\n",
    )
    own_lab.remake()
    plan = own_lab.plan("leave", module="assets.leaver", pids=str(pids))
    result = launch(plan, run=RUN, project=own_lab.project, ns=own_lab.ns)
    assert result.outcome == "succeeded"
    assert not lives(int(pids.read_text()))


def test_an_attempt_that_ignores_everything_is_killed_in_time(lab: Lab) -> None:
    begun: list[float] = []

    def told() -> bool:
        if len(list(attempt(lab, RUN).glob("messages/*.json"))) == 2:
            begun.append(time.monotonic())
        return bool(begun)

    result = launch(lab.plan("deaf"), run=RUN, stop=told, project=lab.project, ns=lab.ns)
    assert result.outcome == "cancelled"
    assert time.monotonic() - begun[0] < 10


def test_a_stop_command_of_another_process_cancels_a_watched_run(lab: Lab) -> None:
    with launcher(lab, lab.plan("wait").hash, RUN) as first:
        process = process_of(lab, RUN)
        assert stop(lab.ns, RUN) == "cancelled"
        assert "RESULT cancelled 1" in first.communicate(timeout=30)[0]
    assert not process.alive()
    assert stop(lab.ns, RUN) == "cancelled"


def test_a_stop_command_ends_a_run_that_nobody_watches(lab: Lab) -> None:
    with launcher(lab, lab.plan("deaf").hash, RUN) as first:
        process = process_of(lab, RUN)
        kill(first.pid)
    assert stop(lab.ns, RUN) == "cancelled"
    assert not process.alive()


def test_a_detached_run_lives_on_and_is_adopted(lab: Lab, tmp_path: Path) -> None:
    go = tmp_path / "go"
    plan = lab.plan("wait", file=str(go))
    left = launch(
        plan,
        run=RUN,
        stop=lambda: "detach" if len(list(attempt(lab, RUN).glob("messages/*.json"))) == 2 else "run",
        project=lab.project,
        ns=lab.ns,
    )
    assert left.outcome == "detached"
    assert process_of(lab, RUN).alive()
    go.touch()
    result = launch(plan, run=RUN, project=lab.project, ns=lab.ns)
    assert (result.outcome, result.attempt) == ("succeeded", 1)


@pytest.mark.parametrize("answer", ["stop", "run"])
def test_an_exception_in_the_watcher_ends_the_run_only_if_it_is_to_stop(lab: Lab, answer: str) -> None:
    raised: list[bool] = []

    def broken(_: object) -> None:
        raised.append(True)
        raise RuntimeError("the watcher breaks")

    with pytest.raises(RuntimeError, match="the watcher breaks"):
        launch(
            lab.plan("wait"),
            run=RUN,
            on_message=broken,
            stop=lambda: answer == "stop" and bool(raised),
            project=lab.project,
            ns=lab.ns,
        )
    process = Process.load(attempt(lab, RUN))
    assert process is not None
    assert process.alive() == (answer == "run")
    assert stop(lab.ns, RUN) == "cancelled"
    assert not process.alive()


def test_a_driver_that_floods_its_output_is_kept_whole_and_shown_in_part(lab: Lab) -> None:
    shown: list[str] = []
    result = launch(lab.plan("flood"), run=RUN, on_log=shown.append, project=lab.project, ns=lab.ns)
    assert result.outcome == "succeeded"
    assert [m.payload.text for m in result.messages if isinstance(m.payload, Note)] == ["flooded"]
    text = "".join(shown)
    assert text.endswith("the end of the flood\n")
    assert "bytes are not shown" in text
    log = result.directory / "attempts/00000001/logs/driver.log"
    assert log.stat().st_size == 200_000 * 110 + len("the end of the flood\n")
    assert len(text) < log.stat().st_size


@pytest.mark.parametrize("damage", ["missing", "altered"])
def test_a_damaged_message_loses_the_attempt_and_the_next_launch_makes_a_new_one(lab: Lab, damage: str) -> None:
    plan = lab.plan("wait", seconds=2.0)

    def harm() -> None:
        message = attempt(lab, RUN) / "messages/00000001.json"
        message.chmod(0o644)
        if damage == "missing":
            message.unlink()
        else:
            message.write_bytes(message.read_bytes().replace(b'"kind":"build"', b'"kind":"train"'))

    with launcher(lab, plan.hash, RUN) as first:
        process = process_of(lab, RUN)
        kill(first.pid)
    harm()
    result = launch(plan, run=RUN, project=lab.project, ns=lab.ns)
    assert (result.outcome, result.attempt) == ("lost", 1)
    assert result.error is not None
    assert "00000001.json" in result.error.text
    assert not process.alive()
    again = launch(plan, run=RUN, project=lab.project, ns=lab.ns)
    assert (again.outcome, again.attempt) == ("succeeded", 2)


def test_edits_of_the_checkout_never_reach_a_run_that_was_planned(own_lab: Lab) -> None:
    plan = own_lab.plan("say", text="as planned")
    own_lab.write("assets/probe.py", "def say(job, text):\n    raise RuntimeError('edited')\n")
    own_lab.write("src/aifactory/build/__init__.py", "raise ImportError('edited')\n")
    assert launch(plan, run=RUN, project=own_lab.project, ns=own_lab.ns).outcome == "succeeded"


def test_an_entrypoint_that_cannot_begin_is_a_failure_of_the_infrastructure(own_lab: Lab) -> None:
    own_lab.write("src/aifactory/run.py", "raise ImportError('a broken image')\n")
    own_lab.remake()
    result = launch(own_lab.plan("say"), run=RUN, project=own_lab.project, ns=own_lab.ns)
    assert result.outcome == "failed_infrastructure"
    assert result.error is not None
    assert "a broken image" in result.error.trace
