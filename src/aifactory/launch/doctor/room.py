"""Volumes that runs mount, and nodes that their shapes fit on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from aifactory.launch.clusters.kube import Claim
from aifactory.launch.clusters.shape import Shape, Toleration
from aifactory.launch.doctor.line import Line, unseen
from aifactory.launch.kuberay.api import Api
from aifactory.launch.kuberay.wire.errors import ApiError
from aifactory.launch.kuberay.wire.kinds import CLAIMS, NODES

REPELS = ("NoSchedule", "NoExecute")


def volumes(api: Api) -> Iterator[Line]:
    """A line for each class."""
    cluster = api.cluster
    if not cluster.volumes:
        yield Line("volumes", "broken", "no class has one", f"write [{cluster.name}.volumes] in clusters.toml")
    for of, volume in sorted(cluster.volumes.items()):
        line = f"volume {of}"
        if not isinstance(volume, Claim):
            where = volume.path if volume.kind == "hostPath" else volume.driver
            yield Line(line, "note", f"{volume.kind} {where}: only a pod sees it (--pod)")
            continue
        name, look = volume.claim, f"kubectl -n {api.namespace} describe pvc {volume.claim}"
        try:
            found = api.get(CLAIMS, name)
        except ApiError as error:
            yield unseen(line, error, f"whether the claim {name} is bound")
            continue
        if found is None:
            text = f"there is no PersistentVolumeClaim {name} in {api.namespace}"
            yield Line(line, "broken", text, "create it, or correct claim in clusters.toml")
        elif (phase := found.get("status", {}).get("phase")) != "Bound":
            yield Line(line, "broken", f"the claim {name} is {phase}, not Bound: pods would wait for it", look)
        elif not {"ReadWriteMany", "ReadOnlyMany"} & {*(modes := found["spec"].get("accessModes", []))}:
            text = f"the claim {name} is {', '.join(modes)}: pods on several nodes can't share it"
            yield Line(line, "warning", text, "make it of a storage class that has ReadWriteMany")
        else:
            size = found["status"].get("capacity", {}).get("storage", "size unknown")
            yield Line(line, "ok", f"the claim {name} is bound, {size}, {', '.join(modes)}")


def shapes(api: Api) -> Iterator[Line]:
    """How many nodes can hold one pod of each shape, by what they have, not by what is free now."""
    try:
        nodes = [one for one in api.list(NODES) if not one["spec"].get("unschedulable")]
    except ApiError as error:
        yield unseen("shapes", error, "whether some node can hold them")
        return
    for name, shape in sorted(api.cluster.shapes.items()):
        fit = sum(fits(shape, node) for node in nodes)
        asked = ", ".join(f"{value} {what}" for what, value in _asked(shape).items())
        text = f"{fit} of {len(nodes)} nodes can hold a pod of it ({asked})"
        if fit:
            yield Line(f"shape {name}", "note", text)
        else:
            fix = "correct the shape, unless an autoscaler adds such nodes"
            yield Line(f"shape {name}", "warning", text, fix)


def fits(shape: Shape, node: Mapping[str, Any]) -> bool:
    """Whether an empty node of this kind could run one working pod of the shape."""
    labels = node["metadata"].get("labels", {})
    if any(labels.get(name) != value for name, value in shape.node_selector.items()):
        return False
    for taint in node["spec"].get("taints", []):
        if taint["effect"] in REPELS and not any(_tolerates(one, taint) for one in shape.tolerations):
            return False
    has = node["status"].get("allocatable", {})
    return all(quantity(has.get(name, "0")) >= quantity(value) for name, value in _asked(shape).items())


def quantity(text: str) -> float:
    """`2`, `500m`, `64Gi` as a number."""
    from kubernetes.utils.quantity import parse_quantity

    return float(parse_quantity(text))


def _asked(shape: Shape) -> dict[str, str]:
    found = {"cpu": str(shape.cpus), "memory": shape.memory}
    found |= {shape.gpu_resource: str(shape.gpus)} if shape.gpus else {}
    return found | ({shape.rdma: "1"} if shape.rdma else {})


def _tolerates(one: Toleration, taint: Mapping[str, Any]) -> bool:
    if one.key != taint["key"] or one.effect not in (None, taint["effect"]):
        return False
    return one.operator == "Exists" or one.value == taint.get("value")
