"""The manifest of an attempt: a pure function of the plan, the cluster and what is asked."""

from __future__ import annotations

import logging
import re
from typing import Any, cast

from aifactory.errors import FactoryError
from aifactory.launch.clusters.kube import KubeCluster
from aifactory.launch.clusters.shape import Shape
from aifactory.launch.kuberay.asked import Asked, known, shape_of
from aifactory.launch.kuberay.names import Names
from aifactory.launch.kuberay.objects import SPEC_HASH, own_labels
from aifactory.launch.kuberay.pods import SPEC_AT, Pod
from aifactory.launch.kuberay.scheduling import Scheduler, scheduler_of
from aifactory.launch.kuberay.volumes import volumes
from aifactory.launch.mounts import mounts_of
from aifactory.launch.plans.plan import Plan
from aifactory.spec import access_of_run

MARGIN_SECONDS = 600
"""By how much the CRD's deadlines lie behind the launcher's own budgets: they are the last resort."""
LEAVE_SECONDS = 5
"""Of a pod's grace, for ending it after its run has saved what it could."""
DIGEST = re.compile(r"[^\s@$]+@sha256:[0-9a-f]{64}")


def build_rayjob(plan: Plan, cluster: KubeCluster, asked: Asked) -> dict[str, Any]:
    """A RayJob `ray.io/v1` that KubeRay 1.6 takes. The Secret `Names.token` and the ConfigMap `Names.spec` exist before
    it, and so do the run's directory and the attempt's: the kubelet would make them as root.

    Raises FactoryError: "image" for a reference without a digest, "no_shape", "no_queue", "no_priority", "no_mount",
    "no_account" for what the cluster doesn't have, "name", and "limits" for more than the cluster allows one run.
    """
    if not DIGEST.fullmatch(asked.image):
        raise FactoryError(
            f"{asked.image!r} may move: a run names its image by digest",
            found=asked.image,
            expected="<repository>@sha256:<64 digits>",
            fix="write the pushed image's digest into images.toml",
            code="image",
        )
    names, shape, scheduler = Names(asked.run, asked.attempt), shape_of(cluster, plan), scheduler_of(cluster)
    _limits(shape, cluster)
    directory = plan.class_root / "runs" / asked.run
    of = access_of_run(directory) or ""
    context = plan.context
    queue = context.queue or next(iter(cluster.queues), None)
    for what, value, have in (("queue", queue, cluster.queues), ("priority", context.priority, cluster.priorities)):
        if value is not None:
            known(what, value, have, cluster)
    labels = own_labels(names) | scheduler.labels(queue, context.priority)
    sources, mounts = volumes(mounts_of(plan, asked.run), cluster)
    pod = Pod(
        image=asked.image,
        account=cluster.accounts[known("account", of, cluster.accounts, cluster)],
        scheduler=scheduler.pods,
        labels=labels,
        env={
            "AIFACTORY_GRACE_SECONDS": str(shape.grace_seconds),
            "AIFACTORY_ROOT": "/factory",
            "AIFACTORY_START_SECONDS": str(cluster.start_seconds),
            "AIFACTORY_WORKERS": str(shape.workers),
            # The pods' user is a number that the image may not know: without these it has no home, and no name.
            "HOME": "/tmp",
            "LOGNAME": "factory",
            "PYTHONHASHSEED": "0",
            "PYTHONNOUSERSITE": "1",
            "PYTHONUNBUFFERED": "1",
            # A job that is stopped through Ray is killed after this: 3 s would leave it no time to save.
            "RAY_JOB_STOP_WAIT_TIME_S": str(shape.grace_seconds),
            # A raylet ends when its agent isn't there in time, and on a busy node 30 s are too few.
            "RAY_agent_register_timeout_ms": "300000",
            "USER": "factory",
        },
        leave=(*_command("aifactory.pod.leave", of, asked), "--seconds", str(shape.grace_seconds - LEAVE_SECONDS)),
        volumes=(*sources, {"name": "spec", "configMap": {"name": names.spec, "defaultMode": 0o444}}),
        mounts=(*mounts, {"name": "spec", "mountPath": SPEC_AT, "readOnly": True}),
    )
    before, active = _deadlines(plan, cluster, scheduler)
    return {
        "apiVersion": "ray.io/v1",
        "kind": "RayJob",
        "metadata": {
            "name": names.job,
            "namespace": cluster.namespace,
            "labels": {key: _squeezed(value) for key, value in asked.dagster.items()} | labels,
            "annotations": {
                SPEC_HASH: plan.hash,
                "aifactory/owner": context.requester.replace("$", ""),
                "aifactory/class": of,
                **scheduler.annotations(shape),
            },
        },
        "spec": _spec(
            names,
            " ".join([*_command("aifactory.run", of, asked), "--spec", plan.hash]),
            _groups(pod, shape),
            cluster,
            scheduler,
            before=before,
            active=active,
        ),
    }


def _command(module: str, of: str, asked: Asked) -> list[str]:
    return ["python", "-m", module, "--run", f"/factory/{of}/runs/{asked.run}", "--attempt", str(asked.attempt)]


def _groups(pod: Pod, shape: Shape) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    alone = shape.workers == 0
    start = {} if alone else {"num-cpus": "0", "num-gpus": "0"}
    head = {"rayStartParams": start, "template": pod.template("head", shape, works=alone)}
    if alone:
        return head, []
    group = {
        "groupName": "workers",
        # KAI counts minReplicas as the gang, and KubeRay calls a cluster ready only with all of them.
        "replicas": shape.workers,
        "minReplicas": shape.workers,
        "maxReplicas": shape.workers,
        "rayStartParams": {},
        "template": pod.template("worker", shape, works=True),
    }
    return head, [group]


def _spec(
    names: Names,
    entrypoint: str,
    groups: tuple[dict[str, Any], list[dict[str, Any]]],
    cluster: KubeCluster,
    scheduler: Scheduler,
    *,
    before: int,
    active: int,
) -> dict[str, Any]:
    # It imports Dagster, which takes a second: whoever only reads clusters.toml doesn't wait for it.
    from dagster_ray.kuberay.configs import AuthOptions, RayClusterSpec, RayJobSpec  # noqa: TID251

    job = RayJobSpec(
        job_id=names.job,
        submission_mode="SidecarMode",
        active_deadline_seconds=active,
        pre_running_deadline_seconds=before,
        backoff_limit=0,
        shutdown_after_job_finishes=True,
        ttl_seconds_after_finished=cluster.drain_seconds,
        suspend=True if scheduler.suspend else None,
        ray_cluster_spec=RayClusterSpec(
            ray_version=cluster.ray_version,
            auth_options=AuthOptions(mode="token", secret_name=names.token),
            head_group_spec=groups[0],
            worker_group_specs=groups[1],
        ),
    )
    spec: dict[str, Any] = job.to_k8s(context=cast(Any, _Log()))
    # The models don't declare this one.
    spec["entrypoint"] = entrypoint
    # Their own default for an autoscaler that a gang must not have.
    del spec["rayClusterSpec"]["autoscalerOptions"]
    return spec


class _Log:
    """dagster-ray asks a Dagster context for its log, and for nothing else here, since the image is in the pods."""

    log = logging.getLogger(__name__)


def _deadlines(plan: Plan, cluster: KubeCluster, scheduler: Scheduler) -> tuple[int, int]:
    """preRunning and active deadline, in seconds from the status' startTime."""
    most = cluster.limits.hours * 3600
    run = plan.context.deadline_seconds or most
    if run > most:
        raise FactoryError(
            f"the cluster {cluster.name} lets no run take so long",
            found=f"{run / 3600:g} hours",
            expected=f"at most {most / 3600:g}",
            fix="ask for less, or raise limits.hours in clusters.toml",
            code="limits",
        )
    queue = cluster.queue_seconds if scheduler.deadlines_wait else 0
    before = queue + cluster.start_seconds + MARGIN_SECONDS
    return before, before + int(run) + MARGIN_SECONDS


def _limits(shape: Shape, cluster: KubeCluster) -> None:
    for of, most in cluster.limits.counted():
        if most is not None and shape.asks(of) > most:
            raise FactoryError(
                f"the cluster {cluster.name} lets no run have so many {of}",
                found=str(shape.asks(of)),
                expected=f"at most {most}",
                fix=f"ask for a smaller shape, or raise limits.{of} in clusters.toml",
                code="limits",
            )


def _squeezed(value: str) -> str:
    """As dagster-ray writes a label's value: its alphabet, 63 characters."""
    return re.sub(r"[^A-Za-z0-9_.-]", "-", value)[:63].strip("-_.")
