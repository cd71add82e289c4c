"""What a pod of each class sees of the site, by one that lives for a few seconds."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from aifactory.launch.clusters.kube import HERE, KubeCluster
from aifactory.launch.doctor.kuberay import LABEL
from aifactory.launch.doctor.line import Line, broken
from aifactory.launch.kuberay.api import Api
from aifactory.launch.kuberay.pods import USER
from aifactory.launch.kuberay.volumes import source
from aifactory.launch.kuberay.wire.errors import ApiError
from aifactory.launch.kuberay.wire.kinds import PODS
from aifactory.launch.sites.marker import Marker
from aifactory.namespace import Key, Snapshot

SECONDS = 300.0
TREE = "/tree"
# The whole volume is mounted, and no directory of it by subPath: one that is missing would be made, as root.
SCRIPT = """
import json, os, sys
tree, cls, key, version = sys.argv[1:]
def text(path):
    try:
        return open(path).read(65536)
    except OSError:
        return None
folder = os.path.join(tree, key, "@" + version)
try:
    size = os.path.getsize(os.path.join(folder, "manifest.json"))
except OSError:
    size = None
try:
    open(os.path.join(tree, ".aifactory-doctor"), "x").close()
    os.unlink(os.path.join(tree, ".aifactory-doctor"))
    writable = True
except OSError:
    writable = False
print(json.dumps({
    "root": os.path.isdir(os.path.join(tree, cls)),
    "marker": text(os.path.join(tree, key, "@present", version + ".json")) if key else None,
    "manifest": size,
    "writable": writable,
}))
"""


@dataclass(frozen=True)
class Sample:
    """A version that the site should have, for a pod to look for."""

    key: Key
    version: str
    manifest_bytes: int

    @classmethod
    def of(cls, snapshot: Snapshot) -> Sample:
        return cls(snapshot.key, snapshot.version, (snapshot.path / "manifest.json").stat().st_size)

    @property
    def name(self) -> str:
        return f"{self.key}@{self.version[:16]}"


def seen(api: Api, image: str, samples: Mapping[str, Sample], *, seconds: float = SECONDS) -> Iterator[Line]:
    """A line for each class that the cluster mounts: a pod with `image`, which has Python, looks for the marker of the
    class's sample; at a cluster without a site of its own for its manifest. The pods are deleted again."""
    for of in sorted(api.cluster.volumes):
        line, name = f"site {of}", f"doctor-{uuid.uuid4().hex[:8]}"
        sample = samples.get(of)
        try:
            api.create(PODS, _pod(api.cluster, name, of, image, sample))
            try:
                said = _ended(api, name, time.monotonic() + seconds)
            finally:
                api.read(lambda name=name: api.delete(PODS, name, grace=0), seconds=10)  # type: ignore[misc]
        except ApiError as error:
            yield broken(line, error)
            continue
        if isinstance(said, str):
            fix = f"look at the volume, the account and the image of {of}: `kubectl -n {api.namespace} get events`"
            yield Line(line, "broken", f"a pod could not look: {said}", fix)
        else:
            yield _judged(line, api.cluster, of, sample, said)


def _judged(line: str, cluster: KubeCluster, of: str, sample: Sample | None, said: Mapping[str, Any]) -> Line:
    if said["writable"]:
        return Line(line, "broken", "a pod can write to a mount that is read-only", "look at the volume's driver")
    if not said["root"]:
        text = f"a pod sees no {of}/ in the volume of {of}: it is another volume, or another prefix, or empty"
        return Line(line, "broken", text, f'correct [{cluster.name}.volumes."{of}"] in clusters.toml')
    if sample is None:
        return Line(line, "note", f"a pod sees {of}/; nothing of {of} is published that it could look for")
    if said["manifest"] != sample.manifest_bytes:
        found = "none" if said["manifest"] is None else f"one of {said['manifest']:,} bytes"
        text = f"a pod sees of {sample.name} no manifest of {sample.manifest_bytes:,} bytes but {found}"
        return Line(line, "broken", text, f"`aifactory sites {sample.key}` says what the site should have")
    if cluster.site == HERE:
        return Line(line, "ok", f"a pod sees {sample.name}, and can't write it")
    mark = f"aifactory mark-present {sample.name} --site {cluster.site}"
    try:
        marker = Marker.model_validate_json(said["marker"] or "")
    except ValidationError:
        found = "a torn marker" if said["marker"] else "no marker"
        return Line(line, "broken", f"a pod sees {found} of {sample.name}", mark)
    if (marker.site, marker.version) != (cluster.site, sample.version):
        text = f"a pod sees a marker of the site {marker.site} for {marker.key}@{marker.version[:16]}"
        return Line(line, "broken", text, f"correct site of [{cluster.name}] or its volumes, or {mark}")
    return Line(line, "ok", f"a pod sees the marker of {sample.name} at {marker.site}, and can't write it")


def _ended(api: Api, name: str, until: float) -> dict[str, Any] | str:
    """What the script said, else in words why it did not."""
    began, found = time.monotonic(), dict[str, Any]()
    while time.monotonic() < until:
        now = api.read(lambda: api.get(PODS, name), seconds=30)
        found = {} if now is None else now
        phase = found.get("status", {}).get("phase")
        if phase == "Succeeded":
            text = api.read(lambda: api.logs(name), seconds=30) or b""
            try:
                said: dict[str, Any] = json.loads(text)
                return said
            except ValueError:
                return "its log is empty or cut"
        if phase == "Failed":
            log = api.read(lambda: api.logs(name, tail=3), seconds=30) or b""
            return f"it failed: {_why(found)} {log.decode(errors='replace').strip()[-300:]}"
        time.sleep(0.5)
    return f"no end within {time.monotonic() - began:.0f} s: {_why(found)}" if found else "it is gone"


def _why(pod: Mapping[str, Any]) -> str:
    status = pod.get("status", {})
    for container in status.get("containerStatuses", []):
        for state in container.get("state", {}).values():
            if said := " ".join(str(state[key]) for key in ("reason", "message") if state.get(key)):
                return said
    unmet = [one for one in status.get("conditions", []) if one["status"] != "True" and one.get("message")]
    return "; ".join(one["message"] for one in unmet) or status.get("message") or f"phase {status.get('phase')}"


def _pod(cluster: KubeCluster, name: str, of: str, image: str, sample: Sample | None) -> dict[str, Any]:
    volume = cluster.volumes[of]
    tree = "/".join(part for part in (TREE, volume.prefix.strip("/")) if part)
    looked = (str(sample.key), sample.version[:16]) if sample else ("", "")
    shape = cluster.shapes.get(cluster.usual.get("train", ""))  # where its pods may go, ours may
    size = {"cpu": "100m", "memory": "128Mi"}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "labels": {LABEL: "site"}},
        "spec": {
            "restartPolicy": "Never",
            "activeDeadlineSeconds": int(SECONDS) + 60,
            "automountServiceAccountToken": False,
            "enableServiceLinks": False,
            "securityContext": {"runAsNonRoot": True, "runAsUser": USER, "runAsGroup": USER},
            "nodeSelector": dict(shape.node_selector) if shape else {},
            "tolerations": [one.model_dump(exclude_none=True) for one in shape.tolerations] if shape else [],
            **({"serviceAccountName": cluster.accounts[of]} if of in cluster.accounts else {}),
            "containers": [
                {
                    "name": "look",
                    "image": image,
                    "imagePullPolicy": "IfNotPresent",
                    "command": ["python", "-c", SCRIPT, tree, of, *looked],
                    "resources": {"requests": size, "limits": size},
                    "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
                    "volumeMounts": [{"name": "tree", "mountPath": TREE, "readOnly": True}],
                }
            ],
            "volumes": [{"name": "tree", **source(volume)}],
        },
    }
