"""SIGKILL at every step, and at random moments: the last good version stays and no half snapshot is visible."""

from __future__ import annotations

import multiprocessing
import os
import random
import shutil
import signal
import sys
import time
from collections.abc import Callable
from datetime import timedelta
from multiprocessing.synchronize import Event
from typing import TYPE_CHECKING

from aifactory.namespace import Namespace, sweep

if TYPE_CHECKING:
    from tests.namespace.conftest import Desk

fork = multiprocessing.get_context("fork")
CHANGES = {
    "open", "os.mkdir", "os.link", "os.rename", "os.remove", "os.rmdir", "os.symlink", "os.chmod", "os.utime",
    "shutil.rmtree",
}  # fmt: skip


def killed_at(step: int, act: Callable[[], object]) -> bool:
    """Runs `act` in a process that kills itself before its `step`th change of the disk; False when it got through."""

    def run() -> None:
        left = [step]

        def count(event: str, details: tuple[object, ...]) -> None:
            if event in CHANGES:
                left[0] -= 1
                if left[0] == 0:
                    os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(count)
        act()

    process = fork.Process(target=run)
    process.start()
    process.join()
    assert process.exitcode in (0, -signal.SIGKILL)
    return process.exitcode != 0


def every_step(desk: Desk, act: Callable[[], object], after: Callable[[], None]) -> int:
    """Kills `act` before each of its changes in turn, each time from the same start; returns how many there were."""
    start = desk.ns
    for step in range(1, 500):
        desk.ns = Namespace(start.root.with_name(f"step{step}"))
        shutil.copytree(start.root, desk.ns.root, symlinks=True)
        killed = killed_at(step, act)
        after()
        shutil.rmtree(desk.ns.root)
        if not killed:
            return step - 1
    raise AssertionError("it never got through")


def test_a_build_killed_at_any_step_leaves_the_last_good_version_and_can_be_repeated(desk: Desk) -> None:
    first = desk.put("first")
    second = desk.build("second")
    shutil.rmtree(second.path)

    def after() -> None:
        desk.check(first, second)
        assert desk.build("second").version == second.version
        desk.publish(second)
        desk.check(second)
        assert desk.publications.number() == 2
        desk.tidy()
        desk.check(second)

    assert every_step(desk, lambda: desk.put("second"), after) > 15


def test_a_rollback_killed_at_any_step_happened_or_did_not(desk: Desk) -> None:
    first, second = desk.put("first"), desk.put("second")

    def roll_back() -> None:
        desk.publications.rollback(first.version, writer="ann", why="because")

    def after() -> None:
        desk.check(first, second)
        happened = desk.publications.number() == 3
        assert desk.ns.resolve(desk.key) == desk.publications.snapshot((first if happened else second).version)
        if not happened:
            roll_back()
        desk.publications.show()
        desk.check(first)
        desk.tidy()

    assert every_step(desk, roll_back, after) > 5


def test_a_sweeper_killed_at_any_step_took_nothing_that_is_published(desk: Desk) -> None:
    first, second = desk.put("first"), desk.put("second")
    desk.build({"a/b/red.txt": "red", "c.txt": "red"})

    def after() -> None:
        desk.check(second)
        desk.ns.resolve(desk.key, first.version).verify()
        desk.tidy()
        desk.check(second)

    assert every_step(desk, lambda: sweep(desk.ns, older_than=timedelta(0)), after) > 5


def test_an_identical_build_killed_at_any_step_keeps_the_snapshot(desk: Desk) -> None:
    first = desk.put("first")

    def after() -> None:
        desk.check(first)
        desk.tidy()

    every_step(desk, lambda: desk.build("first"), after)


def test_builders_killed_at_random_moments_never_leave_half_a_snapshot(desk: Desk) -> None:
    desk.put({f"{n}.txt": "the start" for n in range(5)})
    seed = random.Random(4)

    def build_for_ever(begun: Event) -> None:
        n = 0
        while True:
            n += 1
            desk.put({f"{i}.txt": f"{os.getpid()} {n} {i} " * 2000 for i in range(5)})
            begun.set()
            if n % 3 == 0:
                sweep(desk.ns, older_than=timedelta(0))

    for _ in range(25):
        begun = fork.Event()
        process = fork.Process(target=build_for_ever, args=(begun,))
        process.start()
        assert begun.wait(60)
        time.sleep(seed.uniform(0, 0.03))
        os.kill(process.pid or 0, signal.SIGKILL)
        process.join()
        resolved = desk.ns.resolve(desk.key)
        resolved.verify()
        made_by = {tuple(path.read_text().split()[:2]) for path in resolved.paths()}
        assert len(made_by) == 1
    desk.check(desk.ns.resolve(desk.key))
    assert desk.publications.number() > 25
    desk.put("still works")
    desk.tidy()
