"""Work of one process, done in a worker pod: the head that drives has no resources for it."""

from __future__ import annotations

import importlib
import os
import sys
import traceback
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aifactory.channel import Cancelled, Commands, Failure, Job, Note, Writer, redacted
from aifactory.channel.logs import worker_log
from aifactory.channel.reported import Reported
from aifactory.channel.safe import may_show
from aifactory.errors import FactoryError
from aifactory.namespace import Namespace
from aifactory.namespace.limits import limited
from aifactory.pod import cluster
from aifactory.pod.surroundings import prepare
from aifactory.spec import Context, RunSpec
from aifactory.spec.declared import declared

POLL_SECONDS = 0.2
STOP_SECONDS = 60.0


@dataclass(frozen=True)
class Parcel:
    """What the other process makes its Job of. Picklable."""

    module: str
    spec: RunSpec
    context: Context
    directory: Path
    attempt: int
    attempt_directory: Path
    namespace: Namespace


def send(job: Job, module: str) -> None:
    """`<module>.execute(job)` in a worker pod, which speaks in this attempt's name meanwhile.

    Raises Reported with what it raised there, FactoryError "worker_lost" when the pod ended first, and Cancelled.
    """
    import ray
    from ray.exceptions import RayError

    parcel = Parcel(module, job.spec, job.context, job.directory, job.attempt, job.attempt_directory, job.namespace)
    # Ray swallows what a signal's handler raises while it waits itself, so this looks for itself.
    with job.stopping.gently(STOP_SECONDS), cluster.joined():
        cluster.wait_for_pods(job.writer, job.check_stop)
        room = max(cluster.workers(), key=lambda one: (one.get("GPU", 0), one.get("CPU", 0)))
        gpus = 1 if room.get("GPU", 0) else 0
        job.writer.send(Note(text="works in a worker pod"))
        task = ray.remote(num_cpus=int(room.get("CPU", 0)), num_gpus=gpus, max_retries=0)(do)
        done = task.remote(parcel)
        while not ray.wait([done], timeout=POLL_SECONDS)[0]:
            if job.stop.is_set():
                ray.cancel(done, force=True)
                raise Cancelled
        try:
            failure: Failure | None = ray.get(done)
        except RayError as error:
            raise lost("the worker that did the work", error) from error
    if failure is not None:
        raise Reported(failure)


def do(parcel: Parcel) -> Failure | None:
    """The work, in the worker's process; what ended it, if it failed."""
    prepare()
    speak_into(worker_log(parcel.attempt_directory, 0))
    rows: dict[str, int] = {}
    writer = Writer(parcel.attempt_directory, attempt=parcel.attempt)
    known: dict[str, Any] = {name: getattr(parcel, name) for name in parcel.__dataclass_fields__ if name != "module"}
    job = Job(**known, writer=writer, commands=Commands(parcel.attempt_directory), rows=rows)
    try:
        with limited(declared(job.namespace, job.spec, job.directory, job.context.places)):
            importlib.import_module(parcel.module).execute(job)
    except BaseException as error:
        traceback.print_exception(error)
        return redacted(error, private=not may_show(job.directory), rows=rows)
    finally:
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError):
                stream.flush()
    return None


def speak_into(log: Path) -> None:
    """Append what this worker prints to the log: Ray's way there adds its own actors' chatter."""
    log.parent.mkdir(exist_ok=True)
    handle = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    for standard in (1, 2):
        os.dup2(handle, standard)
    os.close(handle)


def lost(who: str, error: BaseException) -> FactoryError:
    """Its process or its pod ended: no error of the run's code."""
    return FactoryError(
        f"{who} was lost",
        found=type(error).__name__,
        expected="a process that lives until its work is done",
        fix="its pod was evicted or ran out of memory, or its node went: see the attempt's incident.json; the run goes "
        "on from its last checkpoint in a new attempt",
        code="worker_lost",
    )
