"""Several workers: Ray Train on a Ray of this attempt's own, which ends with it; in a pod, on the run's own cluster.

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
from aifactory.channel.logs import driver_log, worker_log
from aifactory.channel.safe import may_show
from aifactory.namespace.limits import limited
from aifactory.pod import cluster, prepare
from aifactory.pod.errand import speak_into
from aifactory.pod.surroundings import stop_seconds
from aifactory.spec.declared import declared
from aifactory.train import stops
from aifactory.train.failures import cause
from aifactory.train.place import Place, place
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
TRIES = 3
SLOW = "timed out during startup"


def train_with_ray(job: Job, seat: Seat) -> None:
    """Train on `seat.config.parallelism.workers` workers. Raises what worker 0 raised, else what any raised.

    On a cluster other than `local` it joins the Ray that is there. The main thread only waits: Ray swallows exceptions
    of signal handlers while it waits itself, and a stop must get through. A stop reaches worker 0 by a file, and the
    others by worker 0, so that all end after the same step.
    """
    local = job.context.cluster == "local"
    if local:
        job.writer.send(Note(text=f"starts Ray with {seat.config.parallelism.workers} workers"))
    failed: list[BaseException] = []

    def fit(temporary: Path, where: Place) -> None:
        try:
            _fit(seat, temporary, where, local=local)
        except BaseException as error:
            failed.append(error)

    with _ray(seat, local=local) as temporary:
        if not local:
            cluster.wait_for_pods(job.writer, job.check_stop)
        nodes = cluster.workers()
        workers = seat.config.parallelism.workers
        where = place(nodes, workers, 1 if local else seat.config.threads)
        if not local:
            job.writer.send(Note(text=f"trains on {workers} workers in {len(nodes)} pods"))
        stop = job.attempt_directory / stops.NAME
        thread = threading.Thread(target=fit, args=(temporary, where), daemon=True, name="ray-train")
        with job.stopping.gently(stop_seconds()):
            thread.start()
            while thread.is_alive():
                if job.stop.is_set() and not stop.exists():
                    stop.touch()
                thread.join(timeout=0.2)
        if failed:
            raise cause(failed[0])


def _fit(seat: Seat, temporary: Path, where: Place, *, local: bool) -> None:
    from ray.train import FailureConfig, RunConfig, ScalingConfig
    from ray.train.torch import TorchConfig, TorchTrainer

    TorchTrainer(
        _work,
        train_loop_config={"seat": seat, "local": local},
        torch_config=TorchConfig(backend="nccl" if where.gpu else "gloo"),
        scaling_config=ScalingConfig(
            num_workers=seat.config.parallelism.workers, use_gpu=where.gpu, resources_per_worker=where.resources
        ),
        # What is kept goes to the run's directory; Ray Train's own storage is never read.
        run_config=RunConfig(
            name="train", storage_path=str(temporary / "storage"), failure_config=FailureConfig(max_failures=0)
        ),
    ).fit()


def _work(config: dict[str, Any]) -> None:
    import ray.train

    context = ray.train.get_context()
    seat: Seat = replace(
        config["seat"],
        rank=context.get_world_rank(),
        world=context.get_world_size(),
        local_rank=context.get_local_rank(),
    )
    if config["local"]:
        speak_into(driver_log(seat.attempt_directory))
    else:
        prepare()
        speak_into(worker_log(seat.attempt_directory, seat.rank))
    from aifactory.train.loop import run

    writer, hears = None, stops.Stops()
    if seat.rank == 0:
        private = not may_show(seat.directory)
        writer = Writer(seat.attempt_directory, attempt=seat.attempt, private=private)
        hears = stops.Stops.by_file(seat.attempt_directory)
    with limited(declared(seat.namespace, seat.spec, seat.directory, seat.places)):
        run(seat, writer, hears)


@contextmanager
def _ray(seat: Seat, *, local: bool) -> Iterator[Path]:
    for name, value in (SWITCHES | LOCAL_SWITCHES if local else SWITCHES).items():
        os.environ.setdefault(name, value)
    if not local:
        temporary = _temporary_directory()
        try:
            with cluster.joined():
                yield temporary
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
        return
    # A token of this attempt's own: Ray would write one into the home directory.
    os.environ.setdefault("RAY_AUTH_MODE", "token")
    os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))
    handlers = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    temporary = _temporary_directory()
    abrupt = True
    try:
        _begin(seat.config.parallelism.workers, temporary)
        # Ray takes SIGTERM for itself: a stop would end the process before it has said so.
        for number, handler in handlers.items():
            signal.signal(number, handler)
        yield temporary
        abrupt = False
    finally:
        _end(abrupt=abrupt)
        shutil.rmtree(temporary, ignore_errors=True)


def _begin(workers: int, temporary: Path) -> None:
    """Start Ray. On a machine whose cores are busy its parts may give each other up: then once more."""
    import ray

    for left in reversed(range(TRIES)):
        try:
            ray.init(
                address="local",
                num_cpus=workers,
                include_dashboard=False,
                object_store_memory=OBJECT_STORE_BYTES,
                log_to_driver=False,
                _temp_dir=str(temporary),
            )
        except Exception as error:
            if SLOW not in str(error) or not left:
                raise
            print(f"Ray did not start in time, {left} tries are left: {error}", flush=True)
            _end(abrupt=True)
        else:
            return


def _end(*, abrupt: bool) -> None:
    """End Ray. `abrupt`: the workers are killed first, so that none writes another message. They alone: without its
    agents a raylet ends, and without a raylet Ray ends the driver."""
    import ray

    children = psutil.Process().children(recursive=True)
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
