"""The played driver: a RayJob's entrypoint really runs, as a process of this machine, under the operator's eyes."""

from __future__ import annotations

import pytest

from aifactory.channel import Reader
from tests.kube import by_hand, table
from tests.kube.by_hand import state, until
from tests.kube.driver import drivers
from tests.kube.space import Space
from tests.launch.lab import Lab

pytestmark = pytest.mark.cluster


@pytest.mark.parametrize(
    ("function", "ends", "outcome"), [("say", "Complete", "succeeded"), ("fail", "Failed", "failed_code")]
)
def test_the_rayjob_ends_as_its_entrypoint_does(space: Space, lab: Lab, function: str, ends: str, outcome: str) -> None:
    plan = lab.plan(function, context={"cluster": "lab"})
    run = f"build-{function}-000000000001"
    directory = by_hand.prepare(plan, run)
    with drivers(space, lab.ns.root, lab.image):
        job = by_hand.submit(space, plan, table.cluster(space, lab.ns.root), run, table.IMAGE)
        # jobStatus may stay RUNNING: the operator looks at the submitter first, whose exit code says FAILED too.
        until(lambda: state(space, job) == ends)
    closed = Reader(directory / "attempts" / "00000001").new()[-1].payload
    assert closed.outcome == outcome


def test_a_head_that_comes_again_starts_the_entrypoint_again(space: Space, lab: Lab) -> None:
    plan = lab.plan("linger", context={"cluster": "lab"})
    run = "build-linger-000000000001"
    directory = by_hand.prepare(plan, run)
    space.queue(cpu=1, memory="2Gi")
    with drivers(space, lab.ns.root, lab.image) as played:
        job = by_hand.submit(space, plan, table.cluster(space, lab.ns.root), run, table.IMAGE)
        until(lambda: (directory / "attempts" / "00000001" / "process.json").exists())
        space.stop_queue("HoldAndDrain")
        until(lambda: state(space, job) == "Suspended" and not played.alive(job))
        space.stop_queue("None")
        until(lambda: state(space, job) in ("Complete", "Failed"))
    # The entrypoint of an attempt that another process had claimed refuses.
    assert played.started == [job, job]
    assert "exit code 3" in space.job(job).message


def test_a_deleted_rayjob_ends_its_entrypoint(space: Space, lab: Lab) -> None:
    plan = lab.plan("linger", context={"cluster": "lab"})
    run = "build-linger-000000000002"
    directory = by_hand.prepare(plan, run)
    with drivers(space, lab.ns.root, lab.image) as played:
        job = by_hand.submit(space, plan, table.cluster(space, lab.ns.root), run, table.IMAGE)
        until(lambda: (directory / "attempts" / "00000001" / "process.json").exists())
        space.kubectl("delete", "rayjob", job, "--timeout=60s")
        until(lambda: not played.alive(job))
    closed = Reader(directory / "attempts" / "00000001").new()[-1].payload
    assert closed.outcome == "cancelled"
