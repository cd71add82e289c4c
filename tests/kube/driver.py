"""What a head pod would do, on fake nodes: the entrypoint of each RayJob as a process of this machine."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from aifactory.launch.images.copies import LocalImage
from tests.kube.dashboards import PlayedJob
from tests.kube.played import SUBMITTER, terminate
from tests.kube.space import Space

LOOK_SECONDS = 1.0
GRACE_SECONDS = 10.0


class Drivers:
    """Starts the entrypoint of every RayJob of a namespace once its Ray cluster is ready, as the submitter would, on
    the namespace tree `root`, and tells the dashboard how it ends. A stop through the dashboard is a SIGTERM; a head
    pod that goes away ends its driver, and a new head starts it again, in the same attempt."""

    def __init__(self, space: Space, root: Path, image: LocalImage):
        self._space, self._root, self._image = space, root, image
        self._alive: dict[str, subprocess.Popen[bytes]] = {}
        self._over = threading.Event()
        self.started: list[str] = []
        """Names of the RayJobs whose entrypoint was started, once for each start."""

    def meet(self, job: PlayedJob) -> None:
        """The operator asked for the first time about a job of the namespace."""
        job.status, job.on_stop = "PENDING", lambda: self.signal(job.id)
        job.stop_ends = False
        threading.Thread(target=self._drive, args=(job,), daemon=True, name=f"driver-{job.id}").start()

    def signal(self, name: str, *, kill: bool = False) -> None:
        """SIGTERM, or SIGKILL, to the driver of a RayJob."""
        if child := self._alive.get(name):
            (child.kill if kill else child.terminate)()

    def alive(self, name: str) -> bool:
        child = self._alive.get(name)
        return child is not None and child.poll() is None

    def end(self) -> None:
        self._over.set()
        for child in self._alive.values():
            child.kill()
            child.wait()

    def _drive(self, job: PlayedJob) -> None:
        with suppress(subprocess.CalledProcessError):  # the RayJob was deleted meanwhile
            rayjob = self._space.get("rayjob", job.id)
            head = self._head(rayjob)
            if head is None or self._over.is_set():
                return
            child = self._start(rayjob)
            self._alive[job.id] = child
            self.started.append(job.id)
            job.status = "RUNNING"
            if self._watch(child, head):
                code = child.returncode
                said = f"Job entrypoint command failed with exit code {code}"
                job.end("SUCCEEDED" if code == 0 else "STOPPED" if job.stops else "FAILED", said if code else "")
                # `ray job submit`, which followed the job's log, ends with it.
                terminate(self._space, head, SUBMITTER, code=min(code, 1) if code >= 0 else 1)
            else:
                job.asked, job.status = 0, "PENDING"

    def _watch(self, child: subprocess.Popen[bytes], head: str) -> bool:
        """True once the driver has ended by itself; False when its pod has gone."""
        while not self._over.is_set():
            with suppress(subprocess.TimeoutExpired):
                child.wait(LOOK_SECONDS)
                return True
            with suppress(subprocess.SubprocessError):  # the API server may be away: the pod lives on
                if not self._space.kubectl("get", "pod", head, "--ignore-not-found", "-o", "name"):
                    child.terminate()
                    with suppress(subprocess.TimeoutExpired):
                        child.wait(GRACE_SECONDS)
                    child.kill()
                    child.wait()
                    return False
        return False

    def _head(self, rayjob: dict[str, object]) -> str | None:
        status = rayjob.get("status", {})
        assert isinstance(status, dict)
        selector = f"ray.io/cluster={status.get('rayClusterName')},ray.io/node-type=head"
        pods = self._space.items("pods", "-l", selector)
        return pods[0]["metadata"]["name"] if pods else None

    def _start(self, rayjob: dict[str, object]) -> subprocess.Popen[bytes]:
        spec = rayjob["spec"]
        assert isinstance(spec, dict)
        words = [
            str(self._root) + word.removeprefix("/factory") if word.startswith("/factory/") else word
            for word in shlex.split(spec["entrypoint"])
        ]
        [container] = spec["rayClusterSpec"]["headGroupSpec"]["template"]["spec"]["containers"]
        env = {one["name"]: one["value"] for one in container["env"]}
        mounted = self._mounted(spec)
        return subprocess.Popen(
            [str(self._image.python), *words[1:], "--spec-at", str(mounted), "--lag", "20"],
            env={
                **{name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ},
                **env,
                "PYTHONPATH": f"{self._image.path / 'src'}:{self._image.path}",
                "AIFACTORY_ROOT": str(self._root),
            },
            stdin=subprocess.DEVNULL,
            stdout=(self._space.directory / "drivers.log").open("ab"),
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    def _mounted(self, spec: dict[str, object]) -> Path:
        """The ConfigMap of the spec, as files."""
        name = next(part for part in json.dumps(spec).split('"') if part.endswith("-spec"))
        folder = self._space.directory / name
        folder.mkdir(exist_ok=True)
        for file, text in self._space.get("configmap", name)["data"].items():
            (folder / file).write_text(text)
        return folder


@contextmanager
def drivers(space: Space, root: Path, image: LocalImage) -> Iterator[Drivers]:
    """For as long as the context lasts."""
    assert space.dashboards is not None
    found = Drivers(space, root, image)
    space.dashboards.newcomers[space.name] = found.meet
    try:
        yield found
    finally:
        del space.dashboards.newcomers[space.name]
        found.end()
