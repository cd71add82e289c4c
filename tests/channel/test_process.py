"""Which process an attempt is."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from aifactory.channel import Process, read_stat


def test_only_the_first_process_claims_an_attempt(tmp_path: Path) -> None:
    code = (
        "from pathlib import Path; from aifactory.channel import Process; "
        f"print(Process.current().claim(Path({str(tmp_path)!r})))"
    )
    children = [subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) for _ in range(3)]
    assert sorted(child.communicate()[0].strip() for child in children) == ["False", "False", "True"]
    claimed = Process.load(tmp_path)
    assert claimed is not None
    assert claimed.pid in {child.pid for child in children}
    assert not claimed.alive()


def test_a_process_lives_until_it_ends_and_a_zombie_is_dead() -> None:
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    stat = read_stat(child.pid)
    assert stat is not None
    me = Process.current()
    process = Process(pid=child.pid, start=stat[2], boot=me.boot, session=stat[1])
    assert process.alive()
    child.kill()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert not process.alive()
    child.wait()


def test_a_recycled_pid_or_another_boot_is_not_the_process() -> None:
    me = Process.current()
    assert me.alive()
    assert not me.model_copy(update={"start": me.start + 1}).alive()
    assert not me.model_copy(update={"boot": "another"}).alive()


def test_a_process_of_a_pod_or_of_another_machine_is_elsewhere_and_one_before_a_reboot_is_gone() -> None:
    me = Process.current()
    assert me.seen() == "alive"
    pod = me.model_copy(update={"host": "a-pod", "pids": "pid:[1]"})  # on this very machine, with this very pid
    assert (pod.seen(), pod.alive(), pod.here) == ("elsewhere", False, False)
    assert pod.model_copy(update={"boot": "another"}).seen() == "elsewhere"
    assert me.model_copy(update={"boot": "another"}).seen() == "gone"


def test_a_file_of_an_older_image_says_what_it_said(tmp_path: Path) -> None:
    me = Process.current()
    old = me.model_dump(exclude={"host", "pids"})
    (tmp_path / "process.json").write_text(json.dumps(old))
    found = Process.load(tmp_path)
    assert found is not None
    assert found.seen() == "alive"
    assert found.model_copy(update={"boot": "another"}).seen() == "gone"
