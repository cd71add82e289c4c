"""Places in a queue from the real Kueue, with the launcher's rights."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from aifactory.launch.kuberay.api import Api
from aifactory.launch.kuberay.observe import observe
from aifactory.launch.kuberay.queues import Queues
from aifactory.launch.kuberay.wire.kinds import RAYJOBS, WORKLOADS
from tests.kube import by_hand, table
from tests.kube.by_hand import state, until
from tests.kube.space import Space
from tests.launch.kuberay.cases import plan

pytestmark = pytest.mark.cluster


def test_a_waiting_run_knows_its_place_and_who_is_ahead(space: Space, tmp_path: Path) -> None:
    space.queue(cpu=3)
    lab = table.cluster(space, tmp_path)
    jobs = []
    for number in range(3):
        job = by_hand.submit(space, plan(priority="low"), lab, f"train-tiny-00000000000{number}", table.IMAGE)
        jobs.append(job)
        until(lambda job=job, number=number: state(space, job) == ("Suspended" if number else "Running"))
    before = threading.active_count()
    queues = Queues(Api.open(lab), seconds=0.5)
    assert queues.pending("training") is None, "nobody waits for the first answer"
    pending = until(lambda: queues.pending("training"))
    api = Api.open(lab)
    rayjob = api.get(RAYJOBS, jobs[2])
    assert rayjob is not None
    uid = rayjob["metadata"]["uid"]
    (workload,) = api.list(WORKLOADS, {"kueue.x-k8s.io/job-uid": uid})
    seen = observe(rayjob, workload=workload, pending=pending)
    assert seen.phase == "queued"
    assert f"about place 2 of 2 in line, behind {jobs[1]} (priority 10)" in seen.text
    assert until(lambda: queues.priority("low")) is True
    assert queues.priority("golden") is None
    until(lambda: queues.priority("golden") is False)
    assert threading.active_count() <= before + 1


def test_what_can_not_be_asked_is_not_known(space: Space, tmp_path: Path) -> None:
    lab = table.cluster(space, tmp_path, namespace="kube-system")
    queues = Queues(Api.open(lab), seconds=0.1)
    for _ in range(3):
        assert queues.pending("training") is None
        threading.Event().wait(0.5)
