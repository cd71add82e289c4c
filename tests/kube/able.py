"""What this machine can run of the test cluster, and why not; what is missing is built before the first test."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.kube.server import SCRIPTS

TIER_A = (
    "etcd",
    "kube-apiserver",
    "kube-controller-manager",
    "kubectl",
    "kuberay-operator",
    "kube-scheduler",
    "kwok",
    "kueue",
)
TIER_B = (*TIER_A, "kubelet", "kube-proxy", "coredns", "pause")
PACKAGES = {
    "/usr/bin/containerd": "containerd",
    "/usr/bin/ctr": "containerd",
    "/usr/sbin/runc": "runc",
    "/usr/sbin/iptables": "iptables",
    "/usr/sbin/conntrack": "conntrack",
    "/usr/bin/buildah": "buildah",
    "/usr/bin/mmdebstrap": "mmdebstrap",
    "/usr/lib/cni/ptp": "containernetworking-plugins",
}


def no_cluster() -> str | None:
    """Why this machine can't run tier A."""
    if sys.platform != "linux":
        return "the test cluster runs on Linux only"
    if not shutil.which("go") and not _built():
        return "the test cluster is not built yet, and Go is missing: install Go 1.26"
    return None


def no_pods() -> str | None:
    """Why this machine can't run tier B."""
    if reason := no_cluster():
        return reason
    if os.geteuid() != 0:
        return "pods need root: namespaces, mounts and cgroups are made"
    if missing := sorted({package for path, package in PACKAGES.items() if not Path(path).exists()}):
        return f"pods need Debian packages that are missing: {' '.join(missing)}"
    return None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whoever uses a cluster is marked so."""
    for item in items:
        names = getattr(item, "fixturenames", ())
        if "node" in names:
            item.add_marker("pods")
        if "kube" in names:
            item.add_marker("cluster")


def pytest_collection_finish(session: pytest.Session) -> None:
    """Builds what the chosen tests need, before the first of them: it takes longer than a test may."""
    if session.config.option.collectonly or os.environ.get("KUBECONFIG"):
        return
    say = teller(session.config)
    if any(item.get_closest_marker("cluster") for item in session.items) and not no_cluster():
        _build([str(SCRIPTS / "build"), *TIER_A], say)
    if any(item.get_closest_marker("pods") for item in session.items) and not no_pods():
        _build([str(SCRIPTS / "build"), *TIER_B], say)
        _build([str(SCRIPTS / "images" / "build"), "train"], say)


def teller(config: pytest.Config) -> Callable[[str], None]:
    """Shows a line at once, although pytest keeps what tests print."""
    capture = config.pluginmanager.getplugin("capturemanager")

    def say(line: str) -> None:
        if "building" in line or "built" in line or "error" in line:
            with capture.global_and_fixture_disabled():
                print(f"test cluster: {line}", file=sys.stderr, flush=True)

    return say


def _build(command: list[str], say: Callable[[str], None]) -> None:
    """A failure is told, and meets whoever starts the cluster again."""
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        for line in process.stderr:
            say(line.rstrip())


def _built() -> bool:
    cache = os.environ.get("AIFACTORY_KUBE_CACHE") or Path(
        os.environ.get("XDG_CACHE_HOME", "~/.cache"), "aifactory-kube"
    )
    return any(Path(cache).expanduser().glob("*/bin/kuberay-operator"))
