"""KubeRay: its kinds with the fields that we use, and an operator that acts."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator
from typing import Any

from aifactory.launch.doctor.line import Line, broken
from aifactory.launch.kuberay.api import Api
from aifactory.launch.kuberay.wire.errors import ApiError
from aifactory.launch.kuberay.wire.kinds import RAYJOBS

OPERATOR_SECONDS = 20.0
LABEL = "aifactory/doctor"
SINCE = {
    "activeDeadlineSeconds": "1.1",
    "backoffLimit": "1.2",
    "entrypoint": "1.0",
    "jobId": "1.0",
    "preRunningDeadlineSeconds": "1.6",
    "rayClusterSpec.authOptions.mode": "1.5.1",
    "rayClusterSpec.authOptions.secretName": "1.6",
    "rayClusterSpec.enableInTreeAutoscaling": "1.0",
    "rayClusterSpec.headGroupSpec.rayStartParams": "1.0",
    "rayClusterSpec.headGroupSpec.template": "1.0",
    "rayClusterSpec.rayVersion": "1.0",
    "rayClusterSpec.workerGroupSpecs.groupName": "1.0",
    "rayClusterSpec.workerGroupSpecs.maxReplicas": "1.0",
    "rayClusterSpec.workerGroupSpecs.minReplicas": "1.0",
    "rayClusterSpec.workerGroupSpecs.rayStartParams": "1.0",
    "rayClusterSpec.workerGroupSpecs.replicas": "1.0",
    "rayClusterSpec.workerGroupSpecs.template": "1.0",
    "shutdownAfterJobFinishes": "1.0",
    "submissionMode": "1.1",
    "suspend": "1.0",
    "ttlSecondsAfterFinished": "1.0",
}
"""The fields of a RayJob's spec that a manifest sets, and the version of KubeRay that brought them. SidecarMode (1.5)
is a value that no schema lists: the fields of 1.6 stand for it."""


def kinds(api: Api) -> Iterator[Line]:
    """From the OpenAPI document, which every account may read."""
    try:
        document = api.request("GET", f"/openapi/v3/apis/{RAYJOBS.group}/{RAYJOBS.version}").json()
        schema = document["components"]["schemas"]["io.ray.v1.RayJob"]
    except (ApiError, KeyError) as error:
        if isinstance(error, KeyError) or error.code == "not_found":
            text = "the cluster knows no RayJob (ray.io/v1): KubeRay's CRDs are missing"
            yield Line("kuberay", "broken", text, "install KubeRay 1.6 or newer, its CRDs and its operator")
        else:
            yield broken("kuberay", error)
        return
    spec = schema["properties"]["spec"]
    missing = [path for path in SINCE if not _has(spec, path.split("."))]
    if missing:
        newest = max((SINCE[path] for path in missing), key=_version)
        yield Line(
            "kuberay",
            "broken",
            f"its RayJob has no {', '.join(missing)}: unknown fields are refused",
            f"upgrade KubeRay to {newest} or newer, its CRDs too",
        )
        return
    newer = "1.7 or newer" if _has(schema["properties"]["status"], ["jobStatusCheckFailureStartTime"]) else "1.6"
    yield Line("kuberay", "ok", f"RayJob ray.io/v1 has all {len(SINCE)} fields that we set: by them KubeRay {newer}")


def operator(api: Api, seconds: float = OPERATOR_SECONDS) -> Iterator[Line]:
    """Asked by a RayJob without a cluster, which a living operator calls invalid at once and makes no pod for. The
    object is deleted again."""
    name = f"doctor-{uuid.uuid4().hex[:8]}"
    body = {
        "apiVersion": RAYJOBS.api,
        "kind": RAYJOBS.name,
        "metadata": {"name": name, "labels": {LABEL: "operator"}},
        "spec": {"entrypoint": "true"},
    }
    began = time.monotonic()
    try:
        api.create(RAYJOBS, body)
    except ApiError as error:
        if error.code in ("forbidden", "not_found"):
            yield Line("operator", "note", f"not looked at: {error.found}")
        else:
            yield broken("operator", error)
        return
    try:
        status = _status(api, name, began + seconds)
        took = time.monotonic() - began
    except ApiError as error:
        yield broken("operator", error)
        return
    finally:
        api.read(lambda: api.delete(RAYJOBS, name), seconds=10)
    version = _deployed(api)
    if status is None:
        yield Line(
            "operator",
            "broken",
            f"it said nothing about a RayJob within {seconds:.0f} s{version}: it is down, or watches other namespaces",
            "look at KubeRay's deployment and its log; its chart's watchNamespace must hold ours",
        )
    else:
        yield Line("operator", "ok", f"answered a RayJob in {took:.1f} s{version}")


def _status(api: Api, name: str, until: float) -> str | None:
    while time.monotonic() < until:
        found = api.get(RAYJOBS, name) or {}
        if status := found.get("status", {}).get("jobDeploymentStatus"):
            return str(status)
        time.sleep(0.2)
    return None


def _deployed(api: Api) -> str:
    """The operator's image, where our account may list deployments."""
    query = {"labelSelector": "app.kubernetes.io/name=kuberay-operator"}
    try:
        found = api.request("GET", "/apis/apps/v1/deployments", query=query).json()["items"]
    except ApiError:
        return ""
    return "".join(
        f", {one['spec']['template']['spec']['containers'][0]['image']} in {one['metadata']['namespace']}"
        f" ({one.get('status', {}).get('availableReplicas', 0)} running)"
        for one in found
    )


def _has(schema: dict[str, Any], path: list[str]) -> bool:
    for part in path:
        schema = schema.get("items", schema)
        if part not in schema.get("properties", {}):
            return False
        schema = schema["properties"][part]
    return True


def _version(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split(".")))
