"""Pods on fake nodes: what a kubelet would write into their status when something happens to them."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

from tests.kube.space import Space

SUBMITTER = "ray-job-submitter"


def pods_of(space: Space, rayjob: str, kind: str | None = None) -> list[dict[str, Any]]:
    """The pods of a RayJob's present cluster; `kind`: head or worker."""
    ray_cluster = space.get("rayjob", rayjob).get("status", {}).get("rayClusterName")
    if not ray_cluster:
        return []
    also = f",ray.io/node-type={kind}" if kind else ""
    return space.items("pods", "-l", f"ray.io/cluster={ray_cluster}{also}")


def terminate(space: Space, pod: str, container: str, *, code: int = 0, reason: str | None = None) -> None:
    """A container ends: `terminate(space, head, SUBMITTER)`, `terminate(space, worker, "worker", code=137,
    reason="OOMKilled")`. The pod's phase follows once none of its containers runs."""
    status = space.get("pod", pod)["status"]
    now = _now()
    for one in status["containerStatuses"]:
        if one["name"] == container:
            began = one["state"].pop("running", {}).get("startedAt", now)
            ended = {"exitCode": code, "reason": reason or ("Completed" if not code else "Error")}
            one |= {"ready": False, "state": {"terminated": {**ended, "startedAt": began, "finishedAt": now}}}
    codes = [
        one["state"]["terminated"]["exitCode"] for one in status["containerStatuses"] if "terminated" in one["state"]
    ]
    if len(codes) == len(status["containerStatuses"]):
        status["phase"] = "Failed" if any(codes) else "Succeeded"
    for condition in status.get("conditions", []):
        if condition["type"] in ("Ready", "ContainersReady"):
            condition |= {"status": "False", "reason": "ContainersNotReady", "lastTransitionTime": now}
    write_status(space, pod, status)


def wait_in(space: Space, pod: str, container: str, *, reason: str, message: str = "") -> None:
    """A pod that was held pending says why: `wait_in(space, pod, "worker", reason="ImagePullBackOff", message=...)`."""
    status = space.get("pod", pod)["status"]
    status["containerStatuses"] = [
        {
            "name": container,
            "image": "missing",
            "imageID": "",
            "ready": False,
            "restartCount": 0,
            "state": {"waiting": {"reason": reason, "message": message}},
        }
    ]
    write_status(space, pod, status)


def evict(
    space: Space, pod: str, *, reason: str = "Evicted", message: str = "The node was low on resource: memory."
) -> None:
    """The node ends the pod."""
    status = space.get("pod", pod)["status"]
    write_status(space, pod, {**status, "phase": "Failed", "reason": reason, "message": message})


def write_status(space: Space, pod: str, status: dict[str, Any]) -> None:
    """Put a whole status."""
    space.kubectl("patch", "pod", pod, "--subresource=status", "--type=merge", "-p", json.dumps({"status": status}))


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
