"""The test cluster itself: what launchers rely on is really there."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.kube import by_hand, played, table
from tests.kube.by_hand import state, until
from tests.kube.dashboards import Dashboards
from tests.kube.server import Kube, NotForTests, kept
from tests.kube.space import Space
from tests.launch.kuberay.cases import plan

pytestmark = pytest.mark.cluster


def submit(space: Space, root: Path, *, run: str = "train-tiny-ba9876543210", **context: Any) -> str:
    """The manifest of the golden files, on this cluster."""
    return by_hand.submit(space, plan(**context), table.cluster(space, root), run, table.IMAGE)


def test_a_rayjob_runs_through_its_played_dashboard(space: Space, tmp_path: Path) -> None:
    job = submit(space, tmp_path)
    until(lambda: state(space, job) == "Running")
    assert {pod["status"]["phase"] for pod in played.pods_of(space, job)} == {"Running"}
    assert len(played.pods_of(space, job, "worker")) == 2
    space.job(job).end("SUCCEEDED")
    until(lambda: state(space, job) == "Complete")
    assert space.job(job).tokens == {f"Bearer {'t' * 32}"}


def test_the_queue_holds_what_does_not_fit_and_preempts_by_priority(space: Space, tmp_path: Path) -> None:
    space.queue(cpu=3, memory="8Gi")
    first = submit(space, tmp_path, run="train-tiny-000000000001", priority="low")
    until(lambda: state(space, first) == "Running")
    second = submit(space, tmp_path, run="train-tiny-000000000002", priority="high")
    until(lambda: state(space, second) == "Running")
    assert state(space, first) in ("Suspending", "Suspended")


def test_a_held_pod_waits_for_what_the_test_writes(space: Space, tmp_path: Path) -> None:
    job = submit(space, tmp_path, shape="held")
    worker = until(lambda: [pod for pod in played.pods_of(space, job, "worker") if pod["spec"].get("nodeName")])[0]
    name = worker["metadata"]["name"]
    played.wait_in(space, name, "worker", reason="ErrImagePull", message="not found")
    found = space.get("pod", name)["status"]
    assert found["phase"] == "Pending"
    assert found["containerStatuses"][0]["state"]["waiting"]["reason"] == "ErrImagePull"


def test_a_deleted_job_stops_its_ray_job_and_leaves_nothing(space: Space, tmp_path: Path) -> None:
    job = submit(space, tmp_path)
    until(lambda: state(space, job) == "Running")
    space.kubectl("delete", "rayjob", job, "--timeout=60s")
    assert space.job(job).stops == 1
    until(lambda: not space.items("pods") and not space.items("rayclusters"))


@pytest.mark.parametrize(
    ("verb", "what", "may"),
    [
        ("create", "rayjobs.ray.io", "yes"),
        ("get", "pods/log", "yes"),
        ("create", "pods/exec", "yes"),
        ("get", "workloadpriorityclasses.kueue.x-k8s.io", "yes"),
        ("update", "secrets", "no"),
        ("create", "serviceaccounts", "no"),
        ("create", "rolebindings.rbac.authorization.k8s.io", "no"),
        ("delete", "nodes", "no"),
    ],
)
def test_the_launchers_token_may_do_what_the_role_says(space: Space, verb: str, what: str, may: str) -> None:
    token = space.token_file.read_text()
    done = subprocess.run(
        [
            "kubectl",
            "--kubeconfig=/dev/null",
            f"--server={space.kube.server}",
            f"--certificate-authority={space.kube.ca_file}",
            f"--token={token}",
            *("-n", space.name, "auth", "can-i", verb, what),
        ],
        env={"PATH": space.kube.path, "HOME": str(space.directory)},
        capture_output=True,
        text=True,
    )
    assert done.stdout.strip() == may, done.stderr


def test_an_outage_of_the_api_server_ends(kube: Kube, dashboards: Dashboards) -> None:
    kube.component("kube-apiserver", "kill")
    with pytest.raises(subprocess.CalledProcessError):
        kube.kubectl("get", "--raw", "/readyz", "--request-timeout=5s")
    kube.up_again()
    assert kube.kubectl("get", "--raw", "/readyz") == "ok"


def test_a_cluster_without_the_mark_is_refused(kube: Kube, tmp_path: Path) -> None:
    # An identity that finds no mark: here, because it may read nothing.
    config = tmp_path / "kubeconfig"
    config.write_text(kube.kubeconfig.read_text())
    kube.kubectl("--kubeconfig", str(config), "config", "unset", "users")
    with pytest.raises(NotForTests, match="not marked for tests"):
        kept({"KUBECONFIG": str(config), "PATH": kube.path})
