"""What the objects of an attempt say, in the words of a launch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from aifactory.channel.payloads import Failure
from aifactory.launch.kuberay.hub import View
from aifactory.launch.runs.result import Outcome

type Json = dict[str, Any]


@dataclass(frozen=True)
class Seen:
    phase: Literal["queued", "starting", "running", "ended", "unknown"]
    text: str
    outcome: Outcome | None = None
    failure: Failure | None = None


def look(view: View) -> Seen:
    job = view.rayjob
    if job is None:
        return Seen("unknown", "the RayJob is not seen yet")
    status = job.get("status") or {}
    deployment, state = status.get("jobDeploymentStatus", ""), status.get("jobStatus", "")
    said = f"{status.get('reason', '')} {status.get('message', '')}".strip()
    if deployment == "Complete" and state == "SUCCEEDED":
        return _ended("lost", "its RayJob succeeded without a last message of the run")
    if deployment in ("Complete", "Failed", "ValidationFailed"):
        return _ended("failed_infrastructure", f"{deployment} {state}: {said}")
    if job["spec"].get("suspend") or deployment in ("Suspended", "Suspending"):
        return Seen("queued", _waits(view.workload))
    if deployment == "Running" and state == "RUNNING":
        return Seen("running", "the job runs")
    for pod in view.pods:
        for one in (pod.get("status") or {}).get("conditions") or []:
            if one["type"] == "PodScheduled" and one["status"] == "False":
                return Seen("queued", str(one.get("message", "")))
    return Seen("starting", f"{deployment or 'new'}, {len(view.pods)} pods")


def _ended(outcome: Outcome, text: str) -> Seen:
    return Seen("ended", text, outcome, Failure(type="RayJob", text=text, code=outcome))


def _waits(workload: Json | None) -> str:
    for one in ((workload or {}).get("status") or {}).get("conditions") or []:
        if one["type"] == "QuotaReserved" and one["status"] == "False":
            return str(one["message"])
    return "waits for its queue"
