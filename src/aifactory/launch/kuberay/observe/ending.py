"""How an attempt has ended, from its RayJob and from what happened to its pods."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from aifactory.channel.payloads import Failure
from aifactory.launch.kuberay.observe.objects import Objects, one_line, part, text
from aifactory.launch.kuberay.observe.seen import Seen
from aifactory.launch.kuberay.observe.struck import KILLED, ended_containers, struck
from aifactory.launch.runs.reasons import REASONS

DEPLOYED = ("Complete", "Failed", "ValidationFailed")
ENDED = ("SUCCEEDED", "FAILED", "STOPPED")
_EXIT = re.compile(r"(?:exit code|exitcode|exited with code|signal) *:? *(-?\d+)", re.IGNORECASE)
_SIGNAL = re.compile(r"signal (?:9|SIGKILL)|SIGKILL", re.IGNORECASE)


def ended(objects: Objects) -> Seen | None:
    """None while it goes on."""
    status = objects.status
    if objects.rayjob is None:
        if not objects.known:
            return None
        blow = struck(objects)
        return conclude(objects, blow.code, blow.text) if blow else conclude(objects, "gone", "the RayJob is gone")
    deployment, job = text(status, "jobDeploymentStatus"), text(status, "jobStatus")
    if deployment == "ValidationFailed":
        return conclude(objects, "invalid", f"the operator refuses it: {one_line(text(status, 'message'))}")
    if job == "SUCCEEDED" and deployment != "Failed":
        return conclude(objects, "succeeded", "the driver ended with success")
    if (blow := struck(objects)) and _over(objects, blow.code):
        return conclude(objects, blow.code, blow.text, blow.since)
    if deployment in DEPLOYED or job in ENDED:
        return _by_itself(objects, deployment, job)
    if at := text(part(objects.rayjob, "metadata"), "deletionTimestamp"):
        return conclude(objects, "deleted", "the RayJob is being deleted", at)
    return None


def _over(objects: Objects, code: str) -> bool:
    """Whether a blow of this kind is the end: one that took the attempt out of its queue is at once, since its
    entrypoint would start again; of others Ray may have a way on."""
    out = code in ("preempted", "drained", "deactivated", "gang_stale")
    status = objects.status
    return out or text(status, "jobDeploymentStatus") in DEPLOYED or text(status, "jobStatus") in ("FAILED", "STOPPED")


def _by_itself(objects: Objects, deployment: str, job: str) -> Seen:
    status = objects.status
    reason, message = text(status, "reason"), text(status, "message")
    if reason in ("DeadlineExceeded", "PreRunningDeadlineExceeded"):
        which = "preRunningDeadlineSeconds" if reason.startswith("Pre") else "activeDeadlineSeconds"
        seconds = part(objects.rayjob, "spec").get(which)
        return conclude(objects, "deadline_cluster", f"the RayJob's {which} ({seconds} s) is over")
    if job == "STOPPED":
        return conclude(objects, "stopped", "the Ray job was stopped")
    if job == "SUCCEEDED":
        return conclude(objects, "succeeded", "the driver ended with success")
    if "head pod not found" in message.lower():
        return conclude(objects, "head_lost", "the head's pod is gone, and no event tells why")
    if reason == "JobStatusCheckTimeoutExceeded":
        return conclude(objects, "dashboard", "the operator could not reach Ray's dashboard for too long")
    if reason == "AppFailed" or job == "FAILED":
        exit_code = _exit_code(message)
        if exit_code in (-9, KILLED) or _SIGNAL.search(message[:500]):
            return conclude(objects, "killed", "the driver's process was killed (SIGKILL)")
        said = f" with exit code {exit_code}" if exit_code is not None else ""
        return conclude(objects, "entrypoint", f"the driver failed{said}")
    if reason in ("SubmissionFailed", "JobDeploymentStatusTransitionGracePeriodExceeded"):
        containers = "; ".join(ended_containers(objects.pods))
        return conclude(objects, "submitter", f"{reason}{f': {containers}' if containers else ''}")
    return conclude(objects, "failed", f"{deployment}{f' ({reason})' if reason else ''}, and nothing tells why")


def conclude(objects: Objects, code: str, said: str, since: str = "", detail: Mapping[str, Any] | None = None) -> Seen:
    """The ending `code` of `REASONS`."""
    reason, status = REASONS[code], objects.status
    outcome = reason.outcome or "failed_infrastructure"
    failure = None
    if outcome != "succeeded":
        # What Ray says quotes the driver's log, so it is a trace and never part of the text.
        failure = Failure(type=code.title().replace("_", ""), text=said, trace=text(status, "message"), code=code)
    facts = {
        "jobDeploymentStatus": text(status, "jobDeploymentStatus"),
        "jobStatus": text(status, "jobStatus"),
        "reason": text(status, "reason"),
        "containers": ended_containers(objects.pods),
        **(detail or {}),
    }
    return Seen("ended", code, said, since or text(status, "endTime") or None, outcome, failure, facts)


def _exit_code(message: str) -> int | None:
    found = _EXIT.search(message[:500])
    return int(found[1]) if found else None
