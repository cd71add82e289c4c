"""Backend `kuberay`: the attempts of one run as RayJobs of a named cluster."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

from aifactory.channel.payloads import Failure
from aifactory.launch.backend import Interrupted
from aifactory.launch.clusters.kube import KubeCluster
from aifactory.launch.kuberay.asked import Asked
from aifactory.launch.kuberay.carrier import RayJobCarrier
from aifactory.launch.kuberay.creating import Creator
from aifactory.launch.kuberay.ending import clear
from aifactory.launch.kuberay.handing import built_in, hand_over
from aifactory.launch.kuberay.hub import hub_of
from aifactory.launch.kuberay.image import reference
from aifactory.launch.kuberay.names import Names
from aifactory.launch.kuberay.observe import REASONS
from aifactory.launch.kuberay.rayjob import build_rayjob
from aifactory.launch.kuberay.wire.patience import Stopped
from aifactory.launch.plans.plan import Plan
from aifactory.launch.runs.attempts import Attempt
from aifactory.launch.runs.result import Signal
from aifactory.namespace import Key, Namespace
from aifactory.project import Project
from aifactory.spec import access_of_run


class KubeRay:
    """`directory` is the run's, on a mount that the cluster's pods have too."""

    name = "kuberay"

    def __init__(
        self,
        plan: Plan,
        directory: Path,
        cluster: KubeCluster,
        *,
        ns: Namespace,
        project: Project,
        say: Callable[[str], None],
        private: bool = False,
    ):
        self._plan, self._directory, self._cluster = plan, directory, cluster
        self._ns, self._project, self._say, self._private = ns, project, say, private
        self.retries = cluster.retries
        self._hub = hub_of(cluster)

    def prepare(self, stop: Callable[[], Signal]) -> None:
        """Nothing is made: the image was pushed before the gate let the run pass. What the manifest refuses is raised
        here, before an attempt is recorded: FactoryError, "image_not_pinned" and those of `build_rayjob`."""
        self._manifest(Names(self._directory.name, 1))

    def create(self, attempt: Attempt, path: Path, stop: Callable[[], Signal]) -> RayJobCarrier:
        """Make its objects, or find that another worker has. Raises FactoryError: what the manifest, the API server and
        `hand_over` refuse, and "job_owned"."""
        names = Names(self._directory.name, attempt.number)
        manifest = self._manifest(names)
        # Before the pods: the kubelet would make them, as root.
        hand_over(self._directory, path, *self._built_in())
        creator = Creator(self._hub.api, told=self._say, stop=lambda: stop() != "run")
        try:
            made = creator.create_or_adopt(names, self._plan.spec, manifest)
        except Stopped as error:
            raise Interrupted(stop()) from error
        place = f"RayJob {names.job} in {self._cluster.namespace} of {self._cluster.name}"
        self._say(f"{place} is made" if made else f"{place} is there, and is adopted")
        return self._carrier(attempt, path)

    def adopt(self, attempt: Attempt, path: Path, stop: Callable[[], Signal]) -> RayJobCarrier:
        """The attempt's RayJob; made if whoever recorded the attempt died before he could. One that was there once is
        never made again: it is lost."""
        if (path / "phases").is_dir() or (path / "process.json").is_file():
            return self._carrier(attempt, path)
        return self.create(attempt, path, stop)

    def clear(self, attempt: Attempt, path: Path) -> None:
        """Delete its RayJob, and say what is left."""
        for line in clear(self._hub.api, Names(self._directory.name, attempt.number), attempt.spec):
            self._say(line)

    def again(self, error: Failure | None) -> bool:
        """False for what only a person can mend."""
        return error is None or error.code not in REASONS or REASONS[error.code].again

    def _built_in(self) -> list[Path]:
        if self._plan.kind != "build":
            return []
        return built_in(self._ns.root.joinpath(*Key.parse(self._plan.spec.build.key).segments))

    def _carrier(self, attempt: Attempt, path: Path) -> RayJobCarrier:
        writer = f"{socket.gethostname()}/{os.getpid()}"
        return RayJobCarrier(
            self._hub, self._cluster, self._directory.name, attempt, path, writer=writer, private=self._private
        )

    def _manifest(self, names: Names) -> dict[str, Any]:
        plan, cluster, origin = self._plan, self._cluster, self._plan.context.origin
        access = ("public", access_of_run(self._directory) or "public")
        recorded = plan.context.image_reference
        image = reference(
            plan.spec.image, cluster, ns=self._ns, project=self._project, access=access, recorded=recorded
        )
        dagster = {"dagster/run-id": origin.partition("/")[0]} if origin else {}
        return build_rayjob(plan, cluster, Asked(run=names.run, attempt=names.attempt, image=image, dagster=dagster))
