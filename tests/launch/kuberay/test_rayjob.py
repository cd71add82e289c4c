"""Manifests: reviewed files, and what holds in every one of them."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aifactory.errors import FactoryError
from aifactory.launch.kuberay import Names, build_rayjob, spec_config_map, token_secret
from tests.launch.kuberay.cases import IMAGE, PLACES, SPECS, asked, cluster, plan, table

GOLDEN = Path(__file__).parents[2] / "golden"
QUEUE = {"kai": "kai.scheduler/queue", "kueue": "kueue.x-k8s.io/queue-name"}
PRIORITY = {"kai": "priorityClassName", "kueue": "kueue.x-k8s.io/priority-class"}
VERSIONED = {
    kind: {
        f"/factory/{one.key}/@{one.version[:16]}" if one.kind != "checkpoint" else PLACES["checkpoint"]
        for one in spec.inputs
    }
    for kind, spec in SPECS.items()
}


@pytest.mark.parametrize(
    ("scheduler", "kind"),
    [("kai", "train"), ("kai", "evaluate"), ("kai", "build"), ("kueue", "train"), ("none", "build")],
)
def test_manifests_are_as_reviewed(scheduler: str, kind: str) -> None:
    priority = None if scheduler == "none" else "train"
    made = build_rayjob(
        plan(kind, priority=priority), cluster(scheduler), asked(kind, dagster={"dagster/run-id": "r1"})
    )
    file = GOLDEN / f"rayjob_{scheduler}_{kind}.json"
    written = json.dumps(made, indent=2, sort_keys=True) + "\n"
    if os.environ.get("AIFACTORY_GOLDEN") == "write":
        file.write_text(written)
    assert file.read_text() == written, "review the change, then run this with AIFACTORY_GOLDEN=write"


shapes = st.fixed_dictionaries(
    {
        "workers": st.integers(0, 5),
        "gpus": st.integers(0, 8),
        "cpus": st.integers(1, 200),
        "memory": st.from_regex(r"[1-9][0-9]{0,3}(Mi|Gi)", fullmatch=True),
        "rdma": st.none() | st.just("rdma/pool"),
        "topology": st.none()
        | st.fixed_dictionaries({"name": st.just("net"), "level": st.just("rack"), "required": st.booleans()}),
        "env": st.dictionaries(
            st.sampled_from(["NCCL_DEBUG", "GLOO_SOCKET_IFNAME"]), st.from_regex(r"[a-z0-9,=:]{0,9}", fullmatch=True)
        ),
    }
)
volume = st.sampled_from(
    [
        {"kind": "pvc", "claim": "c"},
        {"kind": "hostPath", "path": "/srv/tree", "prefix": "a/b"},
        {"kind": "csi", "driver": "csi.example", "attributes": {"share": "x"}},
    ]
)


@settings(max_examples=60, deadline=None)
@given(
    kind=st.sampled_from(sorted(SPECS)),
    scheduler=st.sampled_from(["kai", "kueue", "none"]),
    shape=shapes,
    volume=volume,
    run=st.from_regex(r"[a-z]([-a-z0-9]{0,38}[a-z0-9])?", fullmatch=True),
    attempt=st.integers(1, 999_999),
    owner=st.text(st.characters(categories=["L", "N", "P", "S", "Zs"]), max_size=90),
    label=st.text(max_size=90) | st.text("ab-/", min_size=64, max_size=90),
    priority=st.none() | st.just("train"),
    hours=st.none() | st.floats(0.01, 90),
)
def test_what_holds_in_every_manifest(
    kind: str, scheduler: str, shape: dict[str, Any], volume: dict[str, Any], run: str, attempt: int, owner: str,
    label: str, priority: str | None, hours: float | None,
) -> None:  # fmt: skip
    priority = None if scheduler == "none" else priority
    place = cluster(scheduler, shapes={"s": shape}, usual={kind: "s"}, limits={"hours": 96}, volumes={"public": volume})
    deadline = None if hours is None else hours * 3600
    what = plan(kind, requester=owner, priority=priority, deadline_seconds=deadline)
    ask = asked(kind, run=run, attempt=attempt, dagster={"dagster/job": label})
    made = build_rayjob(what, place, ask)
    again = build_rayjob(what, place, ask)
    assert made == again == json.loads(json.dumps(made))
    assert "$" not in json.dumps(made)

    meta, spec = made["metadata"], made["spec"]
    assert (made["apiVersion"], made["kind"], meta["namespace"]) == ("ray.io/v1", "RayJob", "training")
    assert len(meta["name"]) <= 47
    assert re.fullmatch(r"[a-z]([-a-z0-9]*[a-z0-9])?", meta["name"])
    assert meta["name"] == spec["jobId"] == f"{run}-{attempt}"
    assert meta["annotations"]["aifactory/spec-hash"] == SPECS[kind].hash
    assert meta["annotations"]["aifactory/class"] == "public"

    assert spec["submissionMode"] == "SidecarMode"
    assert spec["backoffLimit"] == 0
    assert spec["shutdownAfterJobFinishes"] is True
    assert spec["ttlSecondsAfterFinished"] >= 30
    assert 0 < spec["preRunningDeadlineSeconds"] < spec["activeDeadlineSeconds"]
    assert spec["activeDeadlineSeconds"] > spec["preRunningDeadlineSeconds"] + (deadline or 96 * 3600)
    assert spec.get("suspend") == (True if scheduler == "kueue" else None)
    assert not {
        "deletionStrategy",
        "clusterSelector",
        "submitterPodTemplate",
        "submitterConfig",
        "runtimeEnvYAML",
    } & set(spec)
    assert (
        spec["entrypoint"]
        == f"python -m aifactory.run --run /factory/public/runs/{run} --attempt {attempt} --spec {what.hash}"
    )
    assert re.fullmatch(r"[A-Za-z0-9 ./_-]+", spec["entrypoint"])

    ray = spec["rayClusterSpec"]
    assert ray["rayVersion"] == "2.60.0"
    assert ray["authOptions"] == {"mode": "token", "secretName": f"{run}-{attempt}-token"}
    assert not ray.get("enableInTreeAutoscaling")
    assert "autoscalerOptions" not in ray
    groups = ray["workerGroupSpecs"]
    assert [one["replicas"] for one in groups] == ([shape["workers"]] if shape["workers"] else [])
    for one in groups:
        assert one["replicas"] == one["minReplicas"] == one["maxReplicas"]
        assert one["groupName"] not in ("head", "headgroup")

    labelled = [meta, *(one["template"]["metadata"] for one in (ray["headGroupSpec"], *groups))]
    for one in labelled:
        for value in one["labels"].values():
            assert re.fullmatch(r"([A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?)?", value)
        assert one["labels"]["aifactory/run"] == run
        assert one["labels"]["aifactory/attempt"] == str(attempt)
        if scheduler != "none":
            assert one["labels"][QUEUE[scheduler]] == "research"
            assert one["labels"].get(PRIORITY[scheduler]) == priority
    for one in (ray["headGroupSpec"], *groups):
        _pod(one["template"]["spec"], kind, run, scheduler, volume)
    worker = (groups[0] if groups else ray["headGroupSpec"])["template"]["spec"]["containers"][0]
    limits = worker["resources"]["limits"]
    assert limits.get("nvidia.com/gpu", "0") == str(shape["gpus"])
    assert limits.get("rdma/pool") == (None if shape["rdma"] is None else "1")
    assert (worker["securityContext"]["capabilities"].get("add") == ["IPC_LOCK"]) == (shape["rdma"] is not None)
    if groups:
        assert ray["headGroupSpec"]["rayStartParams"]["num-cpus"] == "0"
        assert "nvidia.com/gpu" not in json.dumps(ray["headGroupSpec"]["template"]["spec"]["containers"])


def _pod(pod: dict[str, Any], kind: str, run: str, scheduler: str, volume: dict[str, Any]) -> None:
    assert pod["restartPolicy"] == "Never"
    assert pod["serviceAccountName"] == "factory-public"
    assert pod["automountServiceAccountToken"] is False
    assert pod.get("schedulerName") == ("kai-scheduler" if scheduler == "kai" else None)
    assert pod["securityContext"]["runAsNonRoot"] is True
    (box,) = pod["containers"]
    assert box["image"] == IMAGE
    assert "command" not in box
    assert "args" not in box
    assert box["resources"]["requests"] == box["resources"]["limits"]
    assert all(set(one) == {"name", "value"} for one in box["env"])
    sources = {one["name"]: one for one in pod["volumes"]}
    assert {one["name"] for one in box["volumeMounts"]} == set(sources)
    tree = [one for one in box["volumeMounts"] if one["mountPath"].startswith("/factory")]
    own = {f"/factory/public/runs/{run}"} | ({"/factory/public/icd10cm/clean"} if kind == "build" else set())
    assert {one["mountPath"] for one in tree if not one["readOnly"]} == own
    assert {one["mountPath"] for one in tree if one["readOnly"]} == VERSIONED[kind]
    for one in tree:
        prefix = volume.get("prefix")
        assert one["subPath"] == (f"{prefix}/" if prefix else "") + one["mountPath"].removeprefix("/factory/")
    others = {one["mountPath"] for one in box["volumeMounts"]} - {one["mountPath"] for one in tree}
    assert others == {"/dev/shm", "/etc/aifactory"}
    assert sources["shm"]["emptyDir"]["medium"] == "Memory"
    assert sources["spec"]["configMap"]["name"].endswith("-spec")


def strings(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, one in value.items():
            yield key
            yield from strings(one)
    elif isinstance(value, list):
        for one in value:
            yield from strings(one)
    else:
        yield str(value)


def test_only_the_secret_holds_the_token() -> None:
    names, place = Names("train-tiny-ba9876543210", 1), cluster()
    secret = token_secret(names, place, "hunter2")
    assert secret["stringData"] == {"auth_token": "hunter2"}
    job = build_rayjob(plan(), place, asked())
    spec = spec_config_map(names, place, SPECS["train"])
    assert spec["immutable"] is True
    assert json.loads(spec["data"]["spec.json"])["hash"] == SPECS["train"].hash
    assert not any("hunter2" in one for one in (*strings(job), *strings(spec)))
    assert job["spec"]["rayClusterSpec"]["authOptions"]["secretName"] == secret["metadata"]["name"]
    for one in (secret, spec):
        assert one["metadata"]["labels"]["aifactory/run"] == "train-tiny-ba9876543210"


@pytest.mark.parametrize(
    ("code", "context", "ask", "changes"),
    [
        ("image", {}, {"image": "registry.example/train:latest"}, {}),
        ("no_shape", {"shape": "9xh200"}, {}, {}),
        ("no_shape", {}, {}, {"usual": {}}),
        ("no_queue", {"queue": "reserch"}, {}, {}),
        ("no_priority", {"priority": "now"}, {}, {}),
        ("no_mount", {}, {}, {"volumes": {"private/clinic": {"kind": "pvc", "claim": "c"}}}),
        ("no_account", {}, {}, {"accounts": {"private/clinic": "a"}}),
        ("limits", {"deadline_seconds": 97 * 3600.0}, {}, {}),
        ("limits", {}, {}, {"limits": {"gpus": 15}}),
        ("limits", {}, {}, {"limits": {"cpus": 191}}),
        ("name", {}, {"run": "r" * 46}, {}),
        ("name", {}, {"attempt": 0}, {}),
    ],
)
def test_what_the_cluster_has_not_is_refused(code: str, context: Any, ask: Any, changes: Any) -> None:
    with pytest.raises(FactoryError) as caught:
        build_rayjob(plan(**context), cluster(**changes), asked(**ask))
    assert caught.value.code == code
    if code == "no_queue":
        assert "research" in str(caught.value)


def test_a_refusal_lists_what_exists() -> None:
    with pytest.raises(FactoryError, match="8xh200"):
        build_rayjob(plan(shape="9xh200"), cluster(), asked())
    assert set(table()["shapes"]) == {"8xh200", "1xh200", "cpu-pool"}
