"""Several real processes at one key."""

from __future__ import annotations

import multiprocessing
import os
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from aifactory.errors import FactoryError
from aifactory.namespace import Snapshot, sweep

if TYPE_CHECKING:
    from tests.namespace.conftest import Desk

fork = multiprocessing.get_context("fork")


def at_once(*acts: Callable[[], str]) -> list[str]:
    """Runs each in a process of its own, all released together; what they return, or the code of their refusal."""

    def run(n: int) -> None:
        barrier.wait()
        try:
            answers.put((n, acts[n]()))
        except FactoryError as error:
            answers.put((n, f"{error.code}: {error.what}"))

    barrier, answers = fork.Barrier(len(acts)), fork.SimpleQueue()
    processes = [fork.Process(target=run, args=(n,)) for n in range(len(acts))]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0] * len(acts)
    return [answer for _, answer in sorted(answers.get() for _ in acts)]


def builder(desk: Desk, content: str, run: str, frozen: int) -> Callable[[], str]:
    def act() -> str:
        published = desk.publish(desk.build(content, run), frozen=frozen, writer=run)
        return f"{published.outcome} {published.other.writer if published.other else ''}".strip()

    return act


def test_of_builders_of_one_key_one_wins_and_the_others_name_it(desk: Desk) -> None:
    for round_ in range(4):
        number = desk.publications.number()
        done = at_once(*(builder(desk, f"{round_} {n}", f"run{n}", number) for n in range(4)))
        winner = desk.publications.current()
        assert winner is not None
        assert winner.n == number + 1
        assert sorted(done) == ["published"] + [f"superseded {winner.writer}"] * 3
        assert done[int(winner.writer[-1])] == "published"
        desk.check(desk.ns.resolve(desk.key))


def test_builders_of_the_same_content_make_one_snapshot_and_one_record(desk: Desk) -> None:
    for round_ in range(4):
        done = at_once(*(builder(desk, f"same {round_}", f"run{n}", round_) for n in range(4)))
        assert sorted(done) == ["published", "unchanged", "unchanged", "unchanged"]
        assert desk.publications.number() == round_ + 1
    assert len(desk.names()) == 4 + 2
    desk.check(desk.ns.resolve(desk.key))


def test_a_rollback_wins_over_a_publication_whichever_is_first(desk: Desk) -> None:
    good = desk.put("good")

    def roll_back() -> str:
        return desk.publications.rollback(good.version, writer="ann", why="labels are wrong").action

    for round_ in range(5):
        desk.put(f"bad {round_}")
        number = desk.publications.number()
        built, rolled = at_once(builder(desk, f"next {round_}", "bob", number), roll_back)
        assert rolled == "rollback"
        assert desk.ns.resolve(desk.key) == good
        if built != "published":
            assert built.startswith("rolled_back: ")
            assert "by ann" in built
            assert "labels are wrong" in built
        desk.check(good)


@pytest.mark.parametrize("sweepers", [1, 2])
def test_a_sweeper_beside_a_publisher_never_takes_what_is_published(desk: Desk, sweepers: int) -> None:
    good = desk.put("good")

    def sweep_now() -> str:
        return str(len(sweep(desk.ns, desk.key)))

    for round_ in range(6):
        snapshot: Snapshot = desk.build(f"red for 8 days {round_}")
        os.utime(snapshot.path, (time.time() - 8 * 86400,) * 2)
        number = desk.publications.number()

        def publish(snapshot: Snapshot = snapshot, number: int = number) -> str:
            return desk.publish(snapshot, frozen=number).outcome

        done, *_ = at_once(publish, *[sweep_now] * sweepers)
        if done == "published":
            good = snapshot
        else:
            assert done.startswith("missing: ")
            assert desk.publications.number() == number
        desk.check(good)
    desk.tidy()
