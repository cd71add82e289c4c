"""The one entrypoint of a run: `python -m aifactory.run --run DIR --attempt N`.

A RayJob adds `--spec HASH`: then the spec comes from the ConfigMap, what is printed is kept here, and the run's
directory may lag (`aifactory.pod`). Exit codes: 0 succeeded, 1 failed, 3 another process is this attempt, 143
cancelled.
"""

from __future__ import annotations

import argparse
import importlib
import os
import signal
import sys
import threading
import traceback
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

from aifactory.channel import Cancelled, Commands, Failure, Job, Process, Started, Writer, redacted
from aifactory.channel.logs import driver_log
from aifactory.channel.reported import Reported
from aifactory.channel.safe import may_show
from aifactory.channel.stopping import Stopping
from aifactory.errors import FactoryError
from aifactory.namespace import Namespace
from aifactory.namespace.limits import limited
from aifactory.pod import Handed, kept, prepare
from aifactory.pod.cluster import pods
from aifactory.pod.errand import send
from aifactory.pod.fetched import wait_until_fetched
from aifactory.pod.handed import LAG_SECONDS, MOUNTED, recorded_hash
from aifactory.pod.leave import leaving
from aifactory.spec import Context, RunSpec, check_run
from aifactory.spec.declared import declared

KINDS = {
    "build": "aifactory.build",
    "train": "aifactory.train",
    "evaluate": "aifactory.evaluate",
    "smoke": "aifactory.smoke",
}
ERRANDS = frozenset({"build", "evaluate"})
"""Kinds whose work is one process, which a head that only drives sends to a worker."""
INFRASTRUCTURE = frozenset({"worker_lost", "workers_missing"})
"""Codes of errors that the run's code has no part in."""
POLL_SECONDS = 0.5
SUCCEEDED, FAILED, TAKEN, CANCELLED = 0, 1, 3, 143


def main(arguments: Sequence[str] | None = None) -> int:
    """Claim the attempt, verify its spec, run its kind, close the channel."""
    parser = argparse.ArgumentParser(prog="python -m aifactory.run", description=__doc__)
    parser.add_argument("--run", type=Path, required=True, help="the run's directory")
    parser.add_argument("--attempt", type=int, required=True, help="number of the attempt, from 1")
    parser.add_argument("--spec", metavar="HASH", help="the spec's hash: said by a RayJob")
    parser.add_argument("--spec-at", type=Path, default=MOUNTED, help="where the ConfigMap with the spec is mounted")
    parser.add_argument("--lag", type=float, default=LAG_SECONDS, help="seconds that the run's directory may lag")
    options = parser.parse_args(arguments)
    directory = options.run.resolve()
    attempt_directory = directory / "attempts" / f"{options.attempt:08d}"
    handed = None
    if options.spec is not None:
        prepare()
        handed = Handed(options.spec, options.spec_at, options.lag, say=partial(print, flush=True))
        try:
            handed.directory(attempt_directory)
        except FactoryError as error:
            print(error, file=sys.stderr)
            return FAILED
    elif not attempt_directory.is_dir():
        parser.error(f"{attempt_directory} does not exist: runs are started by `aifactory launch`")
    if not Process.current().claim(attempt_directory):
        print(f"attempt {options.attempt} of {directory.name} belongs to another process", file=sys.stderr)
        return TAKEN
    if handed is None:
        return _run(directory, options.attempt, attempt_directory, None)
    if private := not may_show(directory):
        print("a private run: what it prints stays in its directory", flush=True)
    with kept(driver_log(attempt_directory), shown=not private):
        code = _run(directory, options.attempt, attempt_directory, handed)
        wait_until_fetched(attempt_directory)
        return code


def _run(directory: Path, attempt: int, attempt_directory: Path, handed: Handed | None) -> int:
    private = not may_show(directory)
    stop = threading.Event()
    ended = threading.Event()
    writer = Writer(attempt_directory, attempt=attempt, private=private)
    rows: dict[str, int] = {}
    commands = Commands(attempt_directory)

    stopping = Stopping(stop)
    listener = threading.Thread(target=_listen, args=(commands, writer, ended), daemon=True, name="commands")
    try:
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, stopping.heard)
        listener.start()
        spec = handed.spec(directory, attempt) if handed else verified_spec(directory, attempt)
        writer.send(Started(kind=spec.kind, spec=spec.hash, pid=os.getpid()))
        context = handed.context(directory) if handed else Context.load(directory / "context.json")
        check_run(directory, spec, context)
        job = Job(
            spec=spec,
            context=context,
            directory=directory,
            attempt=attempt,
            attempt_directory=attempt_directory,
            namespace=Namespace.open(),
            writer=writer,
            commands=commands,
            stop=stop,
            rows=rows,
            stopping=stopping,
        )
        _execute(job)
        code = SUCCEEDED
    except BaseException as error:
        shown = error.failure if isinstance(error, Reported) else redacted(error, private=private, rows=rows)
        code = _failed(error, writer, stopping, shown, attempt_directory)
    else:
        stopping.over()
        writer.close("succeeded")
    ended.set()
    listener.join(timeout=2 * POLL_SECONDS)
    return code


def _failed(error: BaseException, writer: Writer, stopping: Stopping, shown: Failure, attempt_directory: Path) -> int:
    # Whatever breaks while everything is being stopped (a worker that died first) is the stop's doing.
    cancelled = stopping.stop.is_set() or isinstance(error, Cancelled)
    stopping.over()
    traceback.print_exception(error)
    sys.stderr.flush()
    if cancelled:
        # A pod that must go stops the run too; one that somebody has stopped before is cancelled all the same.
        asked = Commands(attempt_directory).asked_to_stop()
        writer.close("preempted" if leaving(attempt_directory) and not asked else "cancelled", shown)
        return CANCELLED
    infrastructure = isinstance(error, FactoryError) and error.code in INFRASTRUCTURE
    writer.close("failed_infrastructure" if infrastructure else "failed_code", shown)
    return FAILED


def verified_spec(directory: Path, attempt: int) -> RunSpec:
    """The run's spec, whose hash must be the one that the attempt was recorded with.

    Raises FactoryError, code "edited" when spec.json was changed since, "attempt" when there is no such attempt.
    """
    return RunSpec.load(directory / "spec.json", recorded_hash(directory, attempt))


def _execute(job: Job) -> None:
    module = KINDS.get(job.spec.kind)
    if module is None:
        raise FactoryError(f"unknown kind of run {job.spec.kind!r}", expected=", ".join(KINDS), code="kind")
    if pods() and job.spec.kind in ERRANDS:
        send(job, module)
        return
    with limited(declared(job.namespace, job.spec, job.directory, job.context.places)):
        importlib.import_module(module).execute(job)


def _listen(commands: Commands, writer: Writer, ended: threading.Event) -> None:
    gone = False
    while not ended.wait(POLL_SECONDS):
        try:
            if not gone and leaving(commands.directory):
                gone = True
                os.kill(os.getpid(), signal.SIGTERM)
            writer.flush()
            for command in commands.pending():
                commands.acknowledge(command.n, "taken" if command.name == "stop" else "unknown")
                if command.name == "stop":
                    os.kill(os.getpid(), signal.SIGTERM)
        except (OSError, FactoryError) as error:
            with suppress(OSError):
                print(f"commands: {error}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
