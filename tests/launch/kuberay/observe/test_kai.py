"""KAI by its contract: PodGroups as its types write them (its program runs on no machine of ours)."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from aifactory.launch.kuberay.observe import observe

MANIFEST = Path(__file__).parents[3] / "golden" / "rayjob_kai_train.json"
BEGAN = "2026-12-01T14:00:00Z"
LATER = "2026-12-01T14:05:00Z"
NOW = datetime(2026, 12, 1, 14, 10, tzinfo=UTC)


def rayjob(**status: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(MANIFEST.read_text())
    found["metadata"]["creationTimestamp"] = BEGAN
    found["status"] = {"jobDeploymentStatus": "Initializing", "startTime": BEGAN, **status}
    return found


def pod(name: str, *, node: str = "", ready: bool = False) -> dict[str, Any]:
    conditions = [{"type": "Ready", "status": "True"}] if ready else []
    if not node:
        conditions = [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "kai's own"}]
    phase = "Running" if ready else "Pending"
    return {
        "metadata": {"name": name},
        "spec": {"nodeName": node} if node else {},
        "status": {"phase": phase, "conditions": conditions},
    }


def podgroup(*reasons: dict[str, Any], message: str = "", at: str = LATER, **annotations: str) -> dict[str, Any]:
    condition = {
        "type": "UnschedulableOnNodePool",
        "status": "True",
        "reason": "Unschedulable",
        "message": message,
        "reasons": list(reasons),
        "lastTransitionTime": at,
        "transitionID": "1",
    }
    return {"metadata": {"name": "pg-run", "annotations": annotations}, "status": {"schedulingConditions": [condition]}}


def reason(name: str, /, **queue: Any) -> dict[str, Any]:
    details = {"details": {"queueDetails": queue}} if queue else {}
    return {"reason": name, "message": f"{name} in words", **details}


WAITING = [pod("head"), pod("worker-1"), pod("worker-2")]


def test_a_full_queue_says_limit_used_and_asked() -> None:
    full = reason(
        "OverLimit",
        name="team",
        queueResourceLimits={"nvidia.com/gpu": "16", "cpu": "-1"},
        queueAllocatedResources={"nvidia.com/gpu": "12"},
        podGroupRequestedResources={"nvidia.com/gpu": "16", "cpu": "8"},
    )
    seen = observe(rayjob(), WAITING, podgroup=podgroup(full), now=NOW)
    assert (seen.phase, seen.code, seen.since) == ("queued", "kai_over_limit", LATER)
    assert "the queue's limit leaves 4 nvidia.com/gpu of 16 nvidia.com/gpu, 16 nvidia.com/gpu are asked" in seen.text
    assert "cpu of" not in seen.text, "-1 is no limit"


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("NonPreemptibleOverQuota", "kai_over_quota"),
        ("PreemptionDelayNotElapsed", "kai_delay"),
        ("QueueDoesNotExist", "kai_no_queue"),
        ("SomethingNew", "kai_waits"),
    ],
)
def test_reasons_have_codes_and_keep_kais_words(name: str, code: str) -> None:
    seen = observe(rayjob(), WAITING, podgroup=podgroup(reason(name)), now=NOW)
    assert (seen.phase, seen.code) == ("queued", code)
    assert f"{name} in words" in seen.text


def test_a_queue_that_does_not_exist_ends_it_after_the_patience() -> None:
    group = podgroup(reason("QueueDoesNotExist"))
    assert observe(rayjob(), WAITING, podgroup=group, now=NOW, patience=600).phase == "queued"
    over = observe(rayjob(), WAITING, podgroup=group, now=NOW + timedelta(hours=1), patience=600)
    assert (over.outcome, over.code) == ("failed_infrastructure", "kai_no_queue")


def test_a_condition_that_is_older_than_the_start_is_not_told() -> None:
    placed = [pod("head", node="a", ready=True), pod("worker-1", node="a", ready=True), pod("worker-2", node="b")]
    stale = podgroup(reason("OverLimit"))
    assert observe(rayjob(), placed, podgroup=stale, now=NOW).phase == "starting"
    running = rayjob(jobDeploymentStatus="Running", jobStatus="RUNNING")
    assert observe(running, placed, podgroup=stale, now=NOW).code == "running"


def test_before_kai_has_spoken_the_gang_waits_without_a_reason() -> None:
    seen = observe(rayjob(), WAITING, now=NOW)
    assert (seen.phase, seen.code, seen.since) == ("queued", "kai_waits", BEGAN)
    assert "has not said why" in seen.text


def test_the_newest_condition_counts() -> None:
    group = podgroup(reason("OverLimit"), at=BEGAN)
    group["status"]["schedulingConditions"] += podgroup(reason("QueueDoesNotExist"))["status"]["schedulingConditions"]
    assert observe(rayjob(), WAITING, podgroup=group, now=NOW).code == "kai_no_queue"


def evict(action: str) -> dict[str, Any]:
    notes = {"evictor-action-type": action, "evictor-pod-group-name": "pg-big", "num-evicted-pods": "3"}
    return {
        "involvedObject": {"kind": "PodGroup", "name": "pg-run"},
        "reason": "Evict",
        "lastTimestamp": LATER,
        "metadata": {"annotations": notes},
    }


@pytest.mark.parametrize(
    ("action", "code", "outcome"),
    [
        ("preempt", "preempted", "preempted"),
        ("reclaim", "preempted", "preempted"),
        ("consolidation", "preempted", "preempted"),
        ("stalegangeviction", "gang_stale", "failed_infrastructure"),
    ],
)
@pytest.mark.parametrize("told", ["AppFailed", "SubmissionFailed"])
def test_an_evicted_gang_is_no_failure_of_the_code(action: str, code: str, outcome: str, told: str) -> None:
    failed = rayjob(jobDeploymentStatus="Failed", jobStatus="FAILED", reason=told, message="Ray head pod not found.")
    seen = observe(failed, events=[evict(action)], now=NOW)
    assert (seen.code, seen.outcome) == (code, outcome)
    assert "pg-big" in seen.text
    assert observe(failed, now=NOW).code == "head_lost"


def test_an_eviction_of_an_earlier_attempt_is_not_this_ones() -> None:
    key = "kai.scheduler/last-eviction-timestamp"
    failed = rayjob(jobDeploymentStatus="Failed", jobStatus="FAILED", reason="AppFailed", message="exit code 1")
    before = podgroup(**{key: "2026-12-01T13:00:00Z"})
    after = podgroup(**{key: LATER})
    assert observe(failed, podgroup=before, now=NOW).code == "entrypoint"
    assert observe(failed, podgroup=after, now=NOW).code == "preempted"
