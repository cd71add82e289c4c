"""The doctor of a cluster, on a real one: green where all is right, and each fault with its fix."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from aifactory.launch.clusters.kube import KubeCluster
from aifactory.launch.doctor import Line, examine, kuberay, reach
from aifactory.launch.kuberay import build_rayjob
from aifactory.launch.kuberay.api import Api
from aifactory.launch.kuberay.rights import RIGHTS, ROLE, Right
from tests.kube import table
from tests.kube.server import SCRIPTS
from tests.kube.space import Space
from tests.launch.kuberay import cases

pytestmark = pytest.mark.cluster
REPOSITORY = SCRIPTS.parents[2]


def lines(cluster: KubeCluster) -> dict[str, Line]:
    """By name; of several with one name, the worst."""
    order = ("ok", "note", "warning", "broken")
    return {one.name: one for one in sorted(examine(cluster), key=lambda one: order.index(one.state))}


@pytest.fixture
def lab(space: Space, tmp_path: Path) -> Iterator[KubeCluster]:
    space.token_file.chmod(0o600)
    return table.cluster(space, tmp_path)


def test_a_cluster_that_has_all_is_green(space: Space, tmp_path: Path) -> None:
    space.token_file.chmod(0o600)
    queue = space.queue()
    found = lines(table.cluster(space, tmp_path))
    assert not [one for one in found.values() if one.state == "broken"], found
    for name in ("server", "tls", "clock", "token", "namespace", "rights", "kuberay", "operator", f"queue {queue}"):
        assert found[name].state == "ok", found[name]
    assert found["priority high"].text == "value 100"
    assert f"system:serviceaccount:{space.name}:launcher, until 20" in found["token"].text
    assert found["account factory-public"].text == "for public; it may do nothing here"
    assert "KubeRay 1.6" in found["kuberay"].text
    assert found["volume public"].state == "note"
    assert found["shape two"].text == "2 of 2 nodes can hold a pod of it (1 cpu, 1Gi memory)"
    assert space.items("rayjobs") == []


def test_what_clusters_toml_names_and_the_cluster_lacks_is_broken_by_name(space: Space, tmp_path: Path) -> None:
    space.queue("training")
    space.kubectl("create", "-f", "-", stdin=CLAIM)
    shapes = {
        "two": {"cpus": 1, "memory": "1Gi"},
        "huge": {"cpus": 4000, "memory": "1Gi"},
        "elsewhere": {"cpus": 1, "memory": "1Gi", "node_selector": {"gpu": "h200"}},
    }
    found = lines(
        table.cluster(
            space,
            tmp_path,
            queues=["trainning"],
            priorities=["urgent"],
            volumes={"public": {"kind": "pvc", "claim": "none"}, "private/clinic": {"kind": "pvc", "claim": "pending"}},
            accounts={"public": "factory-public", "private/clinic": "factory-clinic"},
            shapes=shapes,
            usual={},
        )
    )
    for name, state, said in (
        ("queue trainning", "broken", "there is training"),
        ("priority urgent", "broken", "there is no WorkloadPriorityClass urgent"),
        ("volume public", "broken", "no PersistentVolumeClaim none"),
        ("volume private/clinic", "broken", "is Pending"),
        ("account factory-clinic", "broken", "is missing"),
        ("shape huge", "warning", "0 of 2 nodes"),
        ("shape elsewhere", "warning", "0 of 2 nodes"),
        ("shape two", "note", "2 of 2 nodes"),
    ):
        assert found[name].state == state, found[name]
        assert said in found[name].text
        assert found[name].fix or state == "note"


def test_a_closed_queue_and_another_scheduler_are_broken(space: Space, tmp_path: Path) -> None:
    queue = space.queue()
    space.kube.kubectl(
        "patch", "clusterqueue", f"{space.name}-{queue}", "--type=merge", "-p", '{"spec": {"stopPolicy": "Hold"}}'
    )
    space.kubectl("wait", "--for=condition=Active=false", f"localqueue/{queue}", "--timeout=30s")
    found = lines(table.cluster(space, tmp_path))
    assert found[f"queue {queue}"].state == "broken"
    assert "stopped" in found[f"queue {queue}"].text
    found = lines(table.cluster(space, tmp_path, scheduler="kai"))
    assert found[f"queue {queue}"].state == "broken"
    assert "KAI isn't installed" in found[f"queue {queue}"].text


def test_missing_rights_and_accounts_with_rights_are_broken(space: Space, lab: KubeCluster) -> None:
    space.kubectl("patch", "role", "aifactory-launcher", "--type=json", "-p", '[{"op": "remove", "path": "/rules/0"}]')
    space.kubectl("create", "rolebinding", "run", "--clusterrole=edit", f"--serviceaccount={space.name}:factory-public")
    found = lines(lab)
    assert found["rights"].state == "broken"
    assert "may not create, get, list, watch, patch, delete rayjobs.ray.io" in found["rights"].text
    assert ROLE in found["rights"].fix
    assert found["account factory-public"].state == "broken"
    assert "create pods" in found["account factory-public"].text
    assert found["operator"].state == "note"


def test_an_administrators_token_works_and_is_warned_of(space: Space, lab: KubeCluster) -> None:
    space.kubectl(
        *("create", "clusterrolebinding", f"{space.name}-all", "--clusterrole=cluster-admin"),
        f"--serviceaccount={space.name}:launcher",
    )
    try:
        assert lines(lab)["rights"].state == "warning"
        found = lines(lab.model_copy(update={"namespace": "no-such-namespace"}))
    finally:
        space.kubectl("delete", "clusterrolebinding", f"{space.name}-all")
    assert found["namespace"].fix == "kubectl create namespace no-such-namespace"
    assert found["account factory-public"].state == "broken"


def test_a_namespace_where_we_may_nothing_is_broken(lab: KubeCluster) -> None:
    found = lines(lab.model_copy(update={"namespace": "no-such-namespace"}))
    assert found["namespace"].state == "broken"
    assert "the namespace is missing, or our role in it" in found["namespace"].text


def test_tokens_that_ended_or_are_unknown_or_readable_by_all(space: Space, lab: KubeCluster) -> None:
    space.token_file.write_text(jwt(time.time() - 7200))
    found = lines(lab)
    assert found["server"].state == "ok"
    assert found["token"].state == "broken"
    assert found["token"].text.startswith("it ended at")
    assert found["rest"].state == "note"
    space.token_file.write_text(jwt(time.time() + 7200))
    assert "doesn't know it" in lines(lab)["token"].text
    space.token_file.unlink()
    assert lines(lab)["token"].state == "broken"
    space.new_token()
    space.token_file.chmod(0o644)
    found = lines(lab)
    assert found["token file"].state == "warning"
    assert found["token file"].fix == f"chmod o= {space.token_file}"
    space.token_file.chmod(0o640)
    assert "token file" not in lines(lab)


def test_a_token_in_a_variable_that_ends_soon_is_warned_of(
    space: Space, lab: KubeCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAB_TOKEN", space.token_file.read_text())
    found = lines(table.cluster(space, space.directory, token={"source": "env", "variable": "LAB_TOKEN"}))
    assert found["token"].state == "warning"
    assert "exec" in found["token"].fix


def test_a_wrong_address_or_ca_leaves_the_rest_unlooked_at(lab: KubeCluster, space: Space, tmp_path: Path) -> None:
    found = lines(lab.model_copy(update={"server": "https://127.0.0.1:1"}))
    assert found["server"].state == "broken"
    assert "refused" in found["server"].text
    found = lines(lab.model_copy(update={"ca_file": None}))
    assert found["tls"].state == "broken"
    assert found["tls"].fix == "correct ca_file or server of [lab] in clusters.toml"
    assert {*found} <= {"tls", "token", "rest"}
    assert lines(lab.model_copy(update={"ca_file": "/none"}))["server"].state == "broken"


@pytest.mark.parametrize(("seconds", "how"), [(120, "ahead of"), (-120, "behind")])
def test_a_clock_that_is_apart_is_broken(
    lab: KubeCluster, monkeypatch: pytest.MonkeyPatch, seconds: float, how: str
) -> None:
    class Clock:
        time = staticmethod(lambda: time.time() + seconds)

    monkeypatch.setattr(reach, "time", Clock)
    found = {one.name: one for one in reach.reach(Api.open(lab))}
    assert found["clock"].state == "broken"
    assert f"120 s {how}" in found["clock"].text


def test_a_server_without_kuberay_and_an_older_one(lab: KubeCluster, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setitem(kuberay.SINCE, "rayClusterSpec.authOptions.tomorrow", "1.19")
        (line,) = kuberay.kinds(Api.open(lab))
    assert line.state == "broken"
    assert "upgrade KubeRay to 1.19" in line.fix
    # This server has no such group, as one without KubeRay has none of the other name.
    monkeypatch.setattr(kuberay, "RAYJOBS", kuberay.RAYJOBS.__class__("ray.example", "v1", "rayjobs", "RayJob"))
    (line,) = kuberay.kinds(Api.open(lab))
    assert line.state == "broken"
    assert "CRDs are missing" in line.text


def test_an_operator_that_hangs_is_broken(space: Space, lab: KubeCluster) -> None:
    space.kube.component("kuberay-operator", "freeze")
    try:
        (line,) = kuberay.operator(Api.open(lab), seconds=1.0)
    finally:
        space.kube.component("kuberay-operator", "thaw")
    assert line.state == "broken"
    assert "watchNamespace" in line.fix
    assert space.items("rayjobs") == []


def test_the_projects_role_grants_what_the_launcher_needs_and_no_more() -> None:
    def flat(rules: list[dict[str, Any]]) -> set[tuple[str, str, str]]:
        return {
            (group, resource, verb)
            for rule in rules
            for group in rule["apiGroups"]
            for resource in rule["resources"]
            for verb in rule["verbs"]
        }

    def asked(namespaced: bool) -> set[tuple[str, str, str]]:
        chosen: list[Right] = [one for one in RIGHTS if one.namespaced == namespaced]
        return {(one.group, one.resource, verb) for one in chosen for verb in one.verbs}

    role, cluster_role = yaml.safe_load_all((REPOSITORY / ROLE).read_text())
    assert flat(role["rules"]) == asked(True)
    assert flat(cluster_role["rules"]) == asked(False)


def test_the_doctor_knows_each_field_that_a_manifest_sets() -> None:
    def fields(value: Any, path: tuple[str, ...] = ()) -> Iterator[str]:
        name = ".".join(path)
        if path[-1:] in (("template",), ("rayStartParams",)) or not isinstance(value, dict | list):
            yield name
        elif isinstance(value, list):
            for one in value:
                yield from fields(one, path)
        else:
            for key, one in value.items():
                yield from fields(one, (*path, key))

    set_ = {
        field
        for scheduler in ("kai", "kueue", "none")
        for field in fields(build_rayjob(cases.plan(), cases.cluster(scheduler), cases.asked())["spec"])
    }
    assert set_ == {*kuberay.SINCE}


def jwt(ends: float) -> str:
    """One that no server knows."""
    claims = base64.urlsafe_b64encode(json.dumps({"exp": ends}).encode()).decode().rstrip("=")
    return f"eyJhbGciOiJSUzI1NiJ9.{claims}.c2lnbmF0dXJl"


CLAIM = """
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: pending}
spec: {accessModes: [ReadWriteMany], resources: {requests: {storage: 1Gi}}}
"""
