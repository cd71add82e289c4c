"""A training on a Ray cluster that is there already, as in a RayJob: a head without cores that runs the driver as a
submitted job, and workers that come later."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import psutil
import pytest

from aifactory.channel import CheckpointSaved, Closed, Note, Payload, Process, Progress, Reader
from aifactory.launch.images.copies import LocalImage, ensure_image
from aifactory.launch.runs.attempts import Attempts
from aifactory.project import Project
from aifactory.spec import Context, Train
from aifactory.train.metrics import read_metrics
from tests.train.lab import Lab, evaluate_job, tiny, train_job

pytest.importorskip("ray", reason="ray is not installed here")
SECONDS = 240
pytestmark = pytest.mark.timeout(600)
HELD = ("--num-cpus", "1", "--object-store-memory", str(100 * 2**20))


@dataclass
class RayCluster:
    """Processes of `ray start` of the image, as KubeRay starts them in pods: `env` is that of the manifest."""

    image: LocalImage
    env: dict[str, str]
    port: int
    dashboard: int
    nodes: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def start(self, *arguments: str) -> None:
        """A node; started again while it fails, as the kubelet does: on a busy machine Ray gives itself up."""
        # On one machine each node needs ports of its own; with fixed ones none is waited for.
        kinds = ("dashboard-agent-listen", "dashboard-agent-grpc", "metrics-export", "runtime-env-agent")
        ports = [word for kind in kinds for word in (f"--{kind}-port", str(free_port()))]
        command = [self.image.python, "-m", "ray.scripts.scripts", "start", "--block", *ports, *arguments]
        again = ["sh", "-c", 'until "$@"; do sleep 1; done', "sh", *command]
        with (Path(self.env["HOME"]) / f"node-{len(self.nodes)}.log").open("wb") as log:
            self.nodes.append(subprocess.Popen(again, env=self.env, stdout=log, stderr=log, cwd="/"))

    def head(self) -> None:
        ports = ("--port", str(self.port), "--dashboard-port", str(self.dashboard))
        self.start(
            "--head", "--num-cpus", "0", "--object-store-memory", HELD[-1], "--temp-dir", self.env["HOME"], *ports
        )

    def worker(self) -> None:
        self.start("--address", f"127.0.0.1:{self.port}", *HELD)

    def submit(self, directory: Path, attempt: int, hash: str) -> None:
        """The driver, as the submitter beside the head hands it in."""
        mounted = directory.parent / f"{directory.name}-config-map"
        mounted.mkdir(exist_ok=True)
        shutil.copy(directory / "spec.json", mounted)
        run = ["-m", "aifactory.run", "--run", directory, "--attempt", str(attempt), "--spec", hash]
        command = [self.image.python, *run, "--spec-at", mounted]
        address = ["--address", f"http://127.0.0.1:{self.dashboard}", "--no-wait"]
        until = time.monotonic() + SECONDS
        while (done := self.ray("job", "submit", *address, "--", *command)).returncode:
            assert time.monotonic() < until, (done.stdout, self.logs())
            time.sleep(1)

    def ray(self, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [self.image.python, "-m", "ray.scripts.scripts", *arguments],
            env=self.env,
            cwd="/",
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=SECONDS,
        )

    def logs(self) -> str:
        return "\n".join(log.read_text()[-2000:] for log in sorted(Path(self.env["HOME"]).glob("node-*.log")))

    def leave(self, directory: Path, attempt: int) -> int:
        """What the hook of a pod that is evicted does."""
        hook = ["-m", "aifactory.pod.leave", "--run", directory, "--attempt", str(attempt), "--seconds", str(SECONDS)]
        return subprocess.run([self.image.python, *hook], env=self.env, cwd="/", timeout=SECONDS).returncode

    def processes(self) -> list[psutil.Process]:
        """Everything that runs here: its environment says so."""
        mark, found = f"HOME={self.env['HOME']}".encode(), []
        for process in psutil.process_iter():
            try:
                if mark in Path(f"/proc/{process.pid}/environ").read_bytes().split(b"\0"):
                    found.append(process)
            except OSError:
                continue
        return found

    def end(self) -> None:
        for node in self.nodes:
            node.kill()
            node.wait()
        while left := self.processes():
            for process in left:
                try:
                    process.kill()
                except psutil.NoSuchProcess:
                    continue
            psutil.wait_procs(left, timeout=5)


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@pytest.fixture(scope="module")
def ray(lab: Lab) -> Iterator[RayCluster]:
    """A head, and no worker yet."""
    image = ensure_image(Project.current(), "train")
    with tempfile.TemporaryDirectory(prefix="r", dir="/tmp", ignore_cleanup_errors=True) as home:
        env = {
            "PATH": f"{image.python.parent}:{os.environ['PATH']}",
            "PYTHONPATH": f"{image.path / 'src'}:{image.path}",
            "HOME": home,
            "TMPDIR": home,
            "USER": "factory",
            "AIFACTORY_ROOT": str(lab.root),
            "AIFACTORY_WORKERS": "2",
            "AIFACTORY_START_SECONDS": str(SECONDS),
            "AIFACTORY_GRACE_SECONDS": "120",
            "PYTHONUNBUFFERED": "1",
            "RAY_AUTH_MODE": "token",
            "RAY_AUTH_TOKEN": secrets.token_hex(32),
            "RAY_USAGE_STATS_ENABLED": "0",
        }
        cluster = RayCluster(image, env, free_port(), free_port())
        cluster.head()
        try:
            yield cluster
        finally:
            cluster.end()


def attempt_of(lab: Lab, config: Train, run: str, attempt: int) -> tuple[Path, str]:
    """The run's directory with that attempt recorded, as the launcher leaves it."""
    job = train_job(lab, config, run, attempt)
    (job.directory / "spec.json").write_bytes(job.spec.to_bytes())
    (job.directory / "context.json").write_bytes(Context(cluster="lab").to_bytes())
    attempts = Attempts(job.directory)
    attempts.start(backend="kuberay", spec=job.spec.hash, writer="test", after=attempts.newest())
    return job.directory, job.spec.hash


def heard(directory: Path, attempt: int) -> list[Payload]:
    return [message.payload for message in Reader(directory / f"attempts/{attempt:08d}").new()]


def said(directory: Path, attempt: int) -> str:
    logs = sorted((directory / f"attempts/{attempt:08d}/logs").glob("*"))
    return "\n".join(f"== {path.name}\n{path.read_text()[-3000:]}" for path in logs)


def until(directory: Path, attempt: int, what: type, **values: object) -> list[Payload]:
    """What was said, once the last thing of that kind has these values."""
    end = time.monotonic() + SECONDS
    while True:
        payloads = heard(directory, attempt)
        found = [one for one in payloads if isinstance(one, what)]
        if any(all(getattr(one, name) == value for name, value in values.items()) for one in found):
            return payloads
        assert time.monotonic() < end, (payloads, said(directory, attempt))
        assert not any(isinstance(one, Closed) for one in payloads), (payloads[-1], said(directory, attempt))
        time.sleep(0.2)


def closed(directory: Path, attempt: int) -> Closed:
    end = time.monotonic() + SECONDS
    while not isinstance(last := (heard(directory, attempt) or [None])[-1], Closed):
        assert time.monotonic() < end, (last, said(directory, attempt))
        time.sleep(0.2)
    return last


def test_an_evicted_training_saves_and_its_next_attempt_ends_like_an_undisturbed_one_on_a_laptop(
    lab: Lab, ray: RayCluster, two_workers: Path
) -> None:
    config = tiny(parallelism__data=2)
    directory, hash = attempt_of(lab, config, "in-pods", 1)
    ray.submit(directory, 1, hash)
    ray.worker()
    until(directory, 1, Progress, text="1 of 2 workers are there")
    ray.worker()
    until(directory, 1, Note, text="trains on 2 workers in 2 pods")
    assert ray.leave(directory, 1) == 0
    end = closed(directory, 1)
    assert end.outcome == "preempted", said(directory, 1)
    (evicted,) = [one for one in heard(directory, 1) if isinstance(one, CheckpointSaved)]
    assert evicted.step < 10

    attempt_of(lab, config, "in-pods", 2)
    ray.submit(directory, 2, hash)
    assert closed(directory, 2).outcome == "succeeded", said(directory, 2)
    there, here = directory / "attempts", two_workers.parents[1] / "attempts"
    losses = [m.loss for n in (1, 2) for m in read_metrics(there / f"{n:08d}/metrics.jsonl")]
    assert losses == [m.loss for m in read_metrics(here / "00000001/metrics.jsonl")]
    for step in (10, 20):
        records = [run / f"checkpoints/step-{step:08d}/checkpoint.json" for run in (directory, two_workers.parents[1])]
        assert digests(records[0]) == digests(records[1])
    process = Process.load(there / "00000002")
    assert process is not None
    assert (there / "00000002/logs/driver.log").exists()
    assert (there / "00000002/logs/worker-1.log").exists()


def digests(record: Path) -> str:
    return str(json.loads(record.read_bytes())["digest"])


def test_an_evaluation_is_done_by_a_worker(lab: Lab, ray: RayCluster, two_workers: Path) -> None:
    last = two_workers.parents[1] / "checkpoints/step-00000020"
    job = evaluate_job(lab, last, digests(last / "checkpoint.json"), "scored-in-pods")
    # Loading a checkpoint reads its tokenizer too, which a plan names.
    job = replace(job, spec=job.spec.evolve({"inputs": (*job.spec.inputs, lab.tokenizer)}))
    (job.directory / "spec.json").write_bytes(job.spec.to_bytes())
    (job.directory / "context.json").write_bytes(job.context.evolve({"cluster": "lab"}).to_bytes())
    Attempts(job.directory).start(backend="kuberay", spec=job.spec.hash, writer="test", after=None)
    ray.submit(job.directory, 1, job.spec.hash)
    assert closed(job.directory, 1).outcome == "succeeded", said(job.directory, 1)
    assert (job.directory / "results.json").exists()
    assert (job.attempt_directory / "logs/worker-0.log").exists()


def test_a_lost_worker_is_a_failure_of_the_infrastructure(lab: Lab, ray: RayCluster) -> None:
    config = tiny(parallelism__data=2, steps=100_000, checkpointing__count=1)
    directory, hash = attempt_of(lab, config, "bereaved", 1)
    ray.submit(directory, 1, hash)
    end = time.monotonic() + SECONDS
    while not any(isinstance(one, Progress) and one.unit == "steps" and one.done > 0 for one in heard(directory, 1)):
        assert time.monotonic() < end, said(directory, 1)
        time.sleep(0.5)
    workers = [one for one in ray.processes() if "RayTrainWorker" in " ".join(one.cmdline())]
    assert len(workers) == 2
    workers[-1].kill()
    last = closed(directory, 1)
    assert last.error is not None
    assert (last.outcome, last.error.type) == ("failed_infrastructure", "FactoryError"), said(directory, 1)
    assert "was lost" in last.error.text
