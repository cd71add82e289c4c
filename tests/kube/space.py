"""A namespace of a test's own, as a lab would set it up for its runs."""

from __future__ import annotations

import contextlib
import json
import subprocess
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import yaml

from tests.kube.dashboards import Dashboards, PlayedJob
from tests.kube.server import Kube

ROLE = Path(__file__).parents[2] / "helm" / "compute" / "templates" / "launcher-role.yaml"
LAUNCHER = "launcher"
QUEUE = "kueue.x-k8s.io/v1beta2"
PRIORITIES = {"low": 10, "normal": 50, "high": 100}
"""WorkloadPriorityClasses, the same for every namespace of a test cluster."""


@dataclass
class Space:
    """`name` is the namespace. It has the accounts `launcher`, bound to exactly what the project's own role gives, and
    `factory-<class>` for public and for each project that was asked for, which may do nothing. `token_file` holds a
    token of the launcher. `directory` is the test's own, on this machine."""

    kube: Kube
    name: str
    directory: Path
    dashboards: Dashboards | None
    accounts: dict[str, str]
    queues: list[str] = field(default_factory=list)

    @property
    def token_file(self) -> Path:
        return self.directory / "token"

    def new_token(self, seconds: int = 24 * 3600) -> str:
        """Another token for the launcher, written to `token_file` too. At least 600 seconds."""
        token = self.kubectl("create", "token", LAUNCHER, f"--duration={seconds}s").strip()
        part = self.token_file.with_suffix(".part")
        part.write_text(token)
        part.rename(self.token_file)
        return token

    def kubectl(self, *arguments: str, stdin: str | None = None) -> str:
        """kubectl as administrator, in this namespace."""
        return self.kube.kubectl("-n", self.name, *arguments, stdin=stdin)

    def get(self, *arguments: str) -> Any:
        return self.kube.get("-n", self.name, *arguments)

    def items(self, kind: str, *arguments: str) -> list[dict[str, Any]]:
        """The objects of a kind in this namespace."""
        found: list[dict[str, Any]] = self.get(kind, *arguments)["items"]
        return found

    def job(self, name: str) -> PlayedJob:
        """What the dashboard says of the Ray job of an attempt."""
        assert self.dashboards is not None, "this cluster's dashboards are real"
        return self.dashboards.job(self.name, name)

    def queue(self, name: str = "training", **quota: str | int) -> str:
        """A LocalQueue with a ClusterQueue of its own, in which a higher priority preempts a lower one. `quota`: cpu,
        memory, gpus; as much as two fake nodes have by default. Known to `table` from now on."""
        sizes = {"cpu": "128", "memory": "512Gi", "nvidia.com/gpu": "16"}
        sizes |= {{"gpus": "nvidia.com/gpu"}.get(what, what): str(value) for what, value in quota.items()}
        cluster_queue = f"{self.name}-{name}"
        self.kube.create(
            {
                "apiVersion": QUEUE,
                "kind": "ClusterQueue",
                "metadata": {"name": cluster_queue, "labels": {"aifactory-tests": self.name}},
                "spec": {
                    "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": self.name}},
                    "preemption": {"withinClusterQueue": "LowerPriority"},
                    "resourceGroups": [
                        {
                            "coveredResources": list(sizes),
                            "flavors": [
                                {
                                    "name": "tests",
                                    "resources": [{"name": key, "nominalQuota": size} for key, size in sizes.items()],
                                }
                            ],
                        }
                    ],
                },
            },
            {
                "apiVersion": QUEUE,
                "kind": "LocalQueue",
                "metadata": {"name": name, "namespace": self.name},
                "spec": {"clusterQueue": cluster_queue},
            },
        )
        self.kubectl("wait", "--for=condition=Active", f"localqueue/{name}", "--timeout=60s")
        self.queues.append(name)
        return name

    def stop_queue(self, policy: Literal["None", "Hold", "HoldAndDrain"], name: str = "training") -> None:
        """Hold back what waits in a queue of this space; with drain, stop what runs too."""
        patch = json.dumps({"spec": {"stopPolicy": policy}})
        self.kubectl("patch", "clusterqueue", f"{self.name}-{name}", "--type=merge", "-p", patch)

    def quota(self, **hard: str | int) -> None:
        """A ResourceQuota: `space.quota(pods=2)`, `space.quota(**{"requests.cpu": 4})`."""
        self.kube.create(
            {
                "apiVersion": "v1",
                "kind": "ResourceQuota",
                "metadata": {"name": "limit", "namespace": self.name},
                "spec": {"hard": {key: str(value) for key, value in hard.items()}},
            }
        )


@contextmanager
def made(
    kube: Kube, directory: Path, dashboards: Dashboards | None = None, projects: tuple[str, ...] = ()
) -> Iterator[Space]:
    """A namespace; everything in it is deleted at the end, and that is not waited for."""
    name = f"test-{uuid.uuid4().hex[:8]}"
    accounts = {"public": "factory-public", **{f"private/{one}": f"factory-{one}" for one in projects}}
    kube.create(*_objects(name, accounts))
    space = Space(kube, name, directory, dashboards, accounts)
    space.new_token()
    try:
        yield space
    finally:
        with contextlib.suppress(subprocess.SubprocessError):
            kube.kubectl("delete", "namespace", name, "--wait=false", timeout=30)
            kube.kubectl("delete", "clusterrolebinding", name, "--wait=false", timeout=30)
            if space.queues:
                kube.kubectl("delete", "clusterqueue", "-l", f"aifactory-tests={name}", "--wait=false", timeout=30)


def prepare(kube: Kube) -> None:
    """What all namespaces share: the launcher's cluster role, a flavor, priorities."""
    cluster_role = next(one for one in _roles() if one["kind"] == "ClusterRole")
    shared: list[Mapping[str, Any]] = [
        cluster_role,
        {"apiVersion": QUEUE, "kind": "ResourceFlavor", "metadata": {"name": "tests"}},
        *(
            {"apiVersion": QUEUE, "kind": "WorkloadPriorityClass", "metadata": {"name": key}, "value": value}
            for key, value in PRIORITIES.items()
        ),
    ]
    if not kube.kubectl("get", "crd", "localqueues.kueue.x-k8s.io", "--ignore-not-found"):
        shared = shared[:1]
    kube.kubectl("apply", "-f", "-", stdin=json.dumps({"apiVersion": "v1", "kind": "List", "items": shared}))


def _roles() -> list[dict[str, Any]]:
    return list(yaml.safe_load_all(ROLE.read_text()))


def _objects(namespace: str, accounts: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    yield {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}
    for account in (LAUNCHER, *accounts.values()):
        yield {
            "apiVersion": "v1",
            "kind": "ServiceAccount",
            "metadata": {"name": account, "namespace": namespace},
            "automountServiceAccountToken": False,
        }
    for role in _roles():
        if role["kind"] == "Role":
            yield {**role, "metadata": {**role["metadata"], "namespace": namespace}}
        kind = f"{role['kind']}Binding"
        yield {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": kind,
            "metadata": {"name": namespace}
            if kind == "ClusterRoleBinding"
            else {"name": LAUNCHER, "namespace": namespace},
            "roleRef": {
                "apiGroup": "rbac.authorization.k8s.io",
                "kind": role["kind"],
                "name": role["metadata"]["name"],
            },
            "subjects": [{"kind": "ServiceAccount", "name": LAUNCHER, "namespace": namespace}],
        }
