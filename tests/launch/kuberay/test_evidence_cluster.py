"""Evidence from a real API server, with the rights of the launcher's account."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from aifactory.launch.kuberay import Names
from aifactory.launch.kuberay.api import Api
from aifactory.launch.kuberay.evidence import collect
from aifactory.launch.kuberay.observe import observe
from aifactory.launch.kuberay.wire.kinds import EVENTS, PODS, RAYJOBS, WORKLOADS
from aifactory.launch.runs.incident import FOLDER
from tests.kube import by_hand, played, table
from tests.kube.by_hand import state, until
from tests.kube.space import Space
from tests.launch.kuberay.cases import plan

pytestmark = pytest.mark.cluster
RUN = "train-tiny-ba9876543210"


def test_a_worker_killed_for_memory_is_told_and_kept(space: Space, tmp_path: Path) -> None:
    space.queue()
    lab = table.cluster(space, tmp_path)
    job = by_hand.submit(space, plan(priority="normal"), lab, RUN, table.IMAGE)
    until(lambda: state(space, job) == "Running")
    worker = played.pods_of(space, job, "worker")[0]["metadata"]["name"]
    played.terminate(space, worker, "worker", code=137, reason="OOMKilled")
    space.job(job).end("FAILED", "Job entrypoint command failed with exit code 1: Canary 4711")
    until(lambda: state(space, job) == "Failed")
    api = Api.open(lab)
    found = api.get(RAYJOBS, job)
    seen = observe(found, api.list(PODS), api.list(EVENTS), workload=api.list(WORKLOADS)[0], now=datetime.now(UTC))
    assert (seen.code, seen.outcome) == ("oom_kill", "failed_infrastructure")
    assert f"worker of {worker} was killed for memory, its limit is 1Gi" in seen.text
    incident = collect(api, Names(RUN, 1), tmp_path, seen, cluster="lab", private=True)
    assert incident is not None
    # Fake nodes have no kubelet that would give a log; all else is there.
    assert {one.split(":")[0].split(" ")[1] for one in incident.missing} == {"log"}
    names = {one.name for one in incident.files}
    assert {"manifest.json", "rayjob.json", "raycluster.json", "pods.json", "events.json", "workload.json"} == names
    assert "DeletedWorkerPod" in {one.reason for one in incident.events}
    everything = "".join(path.read_text() for path in (tmp_path / FOLDER).iterdir())
    assert "t" * 32 not in everything, "the token of the Ray cluster"
    assert "Canary" not in incident.model_dump_json()
    manifest = json.loads((tmp_path / FOLDER / "manifest.json").read_text())
    assert manifest["spec"]["jobId"] == job


def test_a_namespace_quota_and_a_missing_image_are_told_while_it_starts(space: Space, tmp_path: Path) -> None:
    lab = table.cluster(space, tmp_path)
    job = by_hand.submit(space, plan(shape="held"), lab, RUN, table.IMAGE)
    api = Api.open(lab)
    worker = until(lambda: [one for one in played.pods_of(space, job, "worker") if one["spec"].get("nodeName")])[0]
    message = 'rpc error: code = NotFound desc = failed to pull and unpack image "x": x: not found'
    played.wait_in(space, worker["metadata"]["name"], "worker", reason="ErrImagePull", message=message)
    seen = observe(api.get(RAYJOBS, job), api.list(PODS), api.list(EVENTS))
    assert (seen.phase, seen.code) == ("starting", "image_missing")
    space.kubectl("delete", "rayjob", job)
    space.quota(pods=1)
    other = by_hand.submit(space, plan(), lab, "train-tiny-ba9876543211", table.IMAGE)

    def now() -> str:
        pods = api.list(PODS, {"aifactory/run": "train-tiny-ba9876543211"})
        return observe(api.get(RAYJOBS, other), pods, api.list(EVENTS)).code

    assert until(lambda: now() == "pod_quota")
