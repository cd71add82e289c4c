"""Several workers: Ray Train on a Ray of this attempt's own, which ends with it.

The driver says nothing while workers train: worker 0 writes the attempt's messages, and the driver's writer, which
reads its place anew when it closes, goes on after them.
"""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil

from aifactory.channel import Note, Writer
from aifactory.channel.job import Job
from aifactory.errors import FactoryError
from aifactory.namespace.limits import limited
from aifactory.spec import access_of_run
from aifactory.spec.declared import declared
from aifactory.train.seat import Seat

SOCKET_BYTES = 107
SOCKET_SUFFIX = 70
"""Ray's own part of its sockets' paths, of which the system allows SOCKET_BYTES."""
SWITCHES = {
    "RAY_TRAIN_V2_ENABLED": "1",
    "RAY_CHDIR_TO_TRIAL_DIR": "0",
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    # How soon the end of the training is seen.
    "RAY_TRAIN_HEALTH_CHECK_INTERVAL_S": "1",
}
LOCAL_SWITCHES = {
    "RAY_TRAIN_METRICS_ENABLED": "0",
    "RAY_TRAIN_ENABLE_PREEMPTION_WATCHER": "0",
    # A machine whose cores are busy answers late; that does not make it a dead node.
    "RAY_health_check_timeout_ms": "60000",
    "RAY_health_check_failure_threshold": "10",
    "RAY_worker_register_timeout_seconds": "300",
    "RAY_TRAIN_WORKER_GROUP_START_TIMEOUT_S": "300",
}
OBJECT_STORE_BYTES = 128 * 2**20
KILL_SECONDS = 3.0


def train_with_ray(job: Job, seat: Seat) -> None:
    """Train on `seat.config.parallelism.workers` workers. Raises what worker 0 raised, else what any raised.

    On a cluster other than `local` it joins the Ray that is there. The main thread only waits: Ray swallows exceptions
    of signal handlers while it waits itself, and a stop must get through.
    """
    job.writer.send(Note(text=f"starts Ray with {seat.config.parallelism.workers} workers"))
    local = job.context.cluster == "local"
    failed: list[BaseException] = []

    def fit(temporary: Path) -> None:
        try:
            _fit(seat, temporary, local=local)
        except BaseException as error:
            failed.append(error)

    with _ray(seat, local=local) as temporary:
        thread = threading.Thread(target=fit, args=(temporary,), daemon=True, name="ray-train")
        thread.start()
        while thread.is_alive():
            job.check_stop()
            thread.join(timeout=0.2)
    if failed:
        raise _cause(failed[0])


def _fit(seat: Seat, temporary: Path, *, local: bool) -> None:
    from ray.train import FailureConfig, RunConfig, ScalingConfig
    from ray.train.torch import TorchConfig, TorchTrainer

    gpu = _has_gpu()
    TorchTrainer(
        _work,
        train_loop_config={"seat": seat, "local": local},
        torch_config=TorchConfig(backend="nccl" if gpu else "gloo"),
        scaling_config=ScalingConfig(
            num_workers=seat.config.parallelism.workers,
            use_gpu=gpu,
            resources_per_worker={"CPU": 1, "GPU": 1} if gpu else {"CPU": 1},
        ),
        # What is kept goes to the run's directory; Ray Train's own storage is never read.
        run_config=RunConfig(
            name="train", storage_path=str(temporary / "storage"), failure_config=FailureConfig(max_failures=0)
        ),
    ).fit()


def _work(config: dict[str, Any]) -> None:
    if config["local"]:
        _speak_into(config["seat"].attempt_directory / "logs" / "driver.log")
    import ray.train

    from aifactory.train.loop import run

    context = ray.train.get_context()
    seat: Seat = replace(
        config["seat"],
        rank=context.get_world_rank(),
        world=context.get_world_size(),
        local_rank=context.get_local_rank(),
    )
    writer = None
    if seat.rank == 0:
        private = access_of_run(seat.directory) != "public"
        writer = Writer(seat.attempt_directory, attempt=seat.attempt, private=private)
    with limited(declared(seat.namespace, seat.spec, seat.directory, seat.places)):
        run(seat, writer, lambda: None)


def _speak_into(log: Path) -> None:
    """Append what this worker prints to the attempt's log: Ray's way there adds its own actors' chatter."""
    log.parent.mkdir(exist_ok=True)
    handle = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    for standard in (1, 2):
        os.dup2(handle, standard)
    os.close(handle)


@contextmanager
def _ray(seat: Seat, *, local: bool) -> Iterator[Path]:
    for name, value in (SWITCHES | LOCAL_SWITCHES if local else SWITCHES).items():
        os.environ.setdefault(name, value)
    if local:
        # A token of this attempt's own: Ray would write one into the home directory.
        os.environ.setdefault("RAY_AUTH_MODE", "token")
        os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))
    handlers = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    import ray

    temporary = _temporary_directory()
    abrupt = True
    try:
        if local:
            ray.init(
                address="local",
                num_cpus=seat.config.parallelism.workers,
                include_dashboard=False,
                object_store_memory=OBJECT_STORE_BYTES,
                log_to_driver=False,
                _temp_dir=str(temporary),
            )
        else:
            ray.init(address="auto")
        # Ray takes SIGTERM for itself: a stop would end the process before it has said so.
        for number, handler in handlers.items():
            signal.signal(number, handler)
        yield temporary
        abrupt = False
    finally:
        _end(local=local, abrupt=abrupt)
        shutil.rmtree(temporary, ignore_errors=True)


def _end(*, local: bool, abrupt: bool) -> None:
    """End Ray. `abrupt`: the workers are killed first, so that none writes another message. They alone: without its
    agents a raylet ends, and without a raylet Ray ends the driver."""
    import ray

    children = psutil.Process().children(recursive=True) if local else []
    if abrupt:
        workers = [child for child in children if _is_worker(child)]
        _kill(workers)
    ray.shutdown()
    _kill(children)


def _is_worker(process: psutil.Process) -> bool:
    with suppress(psutil.Error):
        return "RayTrainWorker" in " ".join(process.cmdline())
    return False


def _kill(processes: list[psutil.Process]) -> None:
    for process in processes:
        with suppress(psutil.Error):
            process.kill()
    psutil.wait_procs(processes, timeout=KILL_SECONDS)


def _temporary_directory() -> Path:
    """A new directory for Ray's sockets and logs, short enough for a socket's path.

    Removes those of processes that were killed.
    """
    base = Path(tempfile.gettempdir())
    if len(os.fsencode(base)) + len("/af-1234567-12345678") + SOCKET_SUFFIX > SOCKET_BYTES:
        base = Path("/tmp")
    for left in base.glob("af-*-*"):
        pid = left.name.split("-")[1]
        if pid.isdigit() and not psutil.pid_exists(int(pid)):
            shutil.rmtree(left, ignore_errors=True)
    return Path(tempfile.mkdtemp(prefix=f"af-{os.getpid()}-", dir=base))


def _has_gpu() -> bool:
    import ray

    return float(ray.cluster_resources().get("GPU", 0)) > 0


def _cause(error: BaseException) -> BaseException:
    """The exception that a worker raised, worker 0's first, out of Ray Train's wrapping."""
    failures: dict[int, BaseException] = getattr(error, "worker_failures", {})
    for _, inner in sorted(failures.items()):
        if isinstance(inner, FactoryError):
            return inner
    if not failures:
        return error
    rank, first = min(failures.items())
    return FactoryError(
        f"worker {rank} of the training failed",
        found=type(first).__name__,
        fix="read the attempt's logs/driver.log",
        code="worker",
    )
