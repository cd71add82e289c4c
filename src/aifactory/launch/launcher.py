"""Launch a plan: gate, create or adopt an attempt, watch it, close it."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from aifactory.channel import Message, Reader
from aifactory.channel.payloads import Failure
from aifactory.errors import FactoryError
from aifactory.launch.backend import Backend, Interrupted
from aifactory.launch.backends import backend_of, cluster_of
from aifactory.launch.clusters.kube import KubeCluster
from aifactory.launch.clusters.registry import AnyCluster, load_clusters
from aifactory.launch.gate.check_in import check_in
from aifactory.launch.gate.waiting import DataWait
from aifactory.launch.mounts import mounts_of
from aifactory.launch.plans.plan import Plan
from aifactory.launch.runs.attempts import Attempt, Attempts, decide
from aifactory.launch.runs.names import run_name
from aifactory.launch.runs.result import Outcome, RunResult, Signal
from aifactory.launch.runs.retries import PREEMPTED, goes_on, pause
from aifactory.launch.runs.summary import RUNS
from aifactory.launch.runs.watch import Arrived, Budgets, Change, Ended, Log, Watch
from aifactory.launch.sites.ahead import read_ahead
from aifactory.namespace import Namespace
from aifactory.namespace.identities import user_name
from aifactory.project import Project
from aifactory.spec import Context


@dataclass(frozen=True)
class Listener:
    """Where what a run says goes, and who is asked whether to go on."""

    message: Callable[[Message], None]
    log: Callable[[str], None]
    change: Callable[[str], None]
    stop: Callable[[], Signal]


def launch(
    plan: Plan,
    *,
    run: str | None = None,
    origin: str | None = None,
    on_message: Callable[[Message], None] | None = None,
    on_log: Callable[[str], None] | None = None,
    on_change: Callable[[str], None] | None = None,
    stop: Callable[[], bool | Signal] | None = None,
    tries: int = 1,
    project: Project | None = None,
    ns: Namespace | None = None,
) -> RunResult:
    """Bring the run to its end and say how it ended.

    `run`: its name; one made from `origin` (Dagster run and step) else. The same name is the same run: its newest
    attempt is replayed if it succeeded, adopted if it lives, reported if its code failed, followed by a new one if it
    was lost. `on_message` gets every message of the attempt in order, from the first one on (also when replayed);
    `on_log` chunks of the driver's log (never for private runs); `on_change` a line for each change of state.
    `stop` is polled several times a second: "stop" (or True) cancels, "detach" leaves the run alive and returns.
    `tries`: a failed attempt (its code, or lost) is followed by another until the run has that many; a cluster may give
    more to runs that were preempted or that the infrastructure failed.
    Budgets: the context's deadline_seconds for running, and its stall_seconds (else those of its cluster) without a
    word; on a cluster those of waiting and coming up too.
    If anything raises while it watches (a callback, an interrupt), `stop` is asked once more: "stop" ends the run, any
    other answer leaves it alive. Raises GateRefused, or FactoryError for what is wrong with the run's directory (codes
    "run_owned", "edited", "read_only" for a run of another site).
    """
    project = project or Project.current()
    ns = ns or Namespace.of(project)
    run = run or run_name(plan.kind, plan.label, origin or plan.context.origin)
    directory = ns.writable(plan.class_root / RUNS / run)
    listener = Listener(
        message=on_message or _ignore,
        log=on_log or _ignore,
        change=on_change or _ignore,
        stop=_signal(stop),
    )
    data = DataWait(plan, directory, ns, project, listener.change, listener.stop)
    try:
        data.before_the_gate()
    except Interrupted as interrupted:
        return RunResult(run, directory, _given_up(interrupted), 0)
    plan = check_in(plan, directory, ns=ns, project=project)
    attempts = Attempts(directory)
    cluster = cluster_of(plan.context.cluster, load_clusters(project))
    private = ns.class_of(plan.class_root) != "public"
    backend = backend_of(plan, directory, cluster, ns=ns, project=project, say=listener.change, private=private)
    budgets = _budgets(plan.context, cluster)
    while True:
        newest = attempts.settle(writer=writer(), clear=lambda one: backend.clear(one, attempts.path(one.number)))
        made_room = sum(1 for one in attempts.all() if one.outcome == PREEMPTED)
        decision = decide(newest, tries=tries + made_room)
        if newest is not None and decision in ("replay", "report"):
            messages = tuple(Reader(attempts.path(newest.number)).new())
            listener.change(f"attempt {newest.number} of {run} ended before as {newest.outcome}")
            for message in messages:
                listener.message(message)
            return RunResult(run, directory, newest.outcome or "lost", newest.number, messages, newest.error)
        if newest is None or decision == "new":
            mounts_of(plan, run)  # the third time that the class is asked; a backend that can mount mounts this
            try:
                if newest is not None:
                    data.before_a_later_attempt()
                read_ahead(plan, ns=ns, project=project, say=listener.change, stop=listener.stop)
                backend.prepare(listener.stop)
            except Interrupted as interrupted:
                return RunResult(run, directory, _given_up(interrupted), newest.number if newest else 0)
            made = attempts.start(backend=backend.name, spec=plan.hash, writer=writer(), after=newest)
            if made is None:
                continue  # another launcher was faster: look again
            attempt, launched = made, True
        else:
            attempt, launched = newest, False
        _same_spec(attempt, plan, directory)
        listener.change(f"attempt {attempt.number} of {run} {'is launched' if launched else 'lives: it is adopted'}")
        try:
            start = backend.create if launched else backend.adopt
            carrier = start(attempt, attempts.path(attempt.number), listener.stop)
        except Interrupted as interrupted:
            result = _interrupted(attempts, attempt, interrupted.signal, backend, launched=launched)
        except (OSError, FactoryError) as error:
            result = _not_started(attempts, attempt, error, backend, launched=launched)
        else:
            watch = Watch(attempts, attempt, carrier=carrier, stop=listener.stop, budgets=budgets, private=private)
            result = _follow(attempts, attempt, watch, listener, launched=launched)
        history = attempts.all()
        if result.outcome == "detached" or not goes_on(history, tries=tries, retries=backend.retries):
            return result
        if not backend.again(history[-1].error) and history[-1].outcome != "failed_code":
            return result
        if (signal := _wait(pause(history, backend.retries), listener)) != "run":
            return replace(result, outcome="cancelled" if signal == "stop" else "detached")


def _wait(seconds: float, listener: Listener) -> Signal:
    if seconds:
        listener.change(f"the next attempt comes in {seconds:g} s")
    until = time.monotonic() + seconds
    while (signal := listener.stop()) == "run" and time.monotonic() < until:
        time.sleep(0.1)
    return signal


def _given_up(interrupted: Interrupted) -> Outcome | Literal["detached"]:
    return "cancelled" if interrupted.signal == "stop" else "detached"


def _interrupted(
    attempts: Attempts, attempt: Attempt, signal: Signal, backend: Backend, *, launched: bool
) -> RunResult:
    """The caller said stop or detach while the attempt was on its way to its backend."""
    outcome: Outcome | Literal["detached"] = "detached"
    if signal == "stop":
        backend.clear(attempt, attempts.path(attempt.number))
        outcome = attempts.end(attempt.number, "cancelled", writer=writer()).outcome or "cancelled"
    return RunResult(attempts.run, attempts.directory.parent, outcome, attempt.number, (), None, launched)


def _budgets(context: Context, cluster: AnyCluster) -> Budgets:
    stall = context.stall_seconds or cluster.stall_seconds
    if isinstance(cluster, KubeCluster):
        run = context.deadline_seconds or cluster.limits.hours * 3600
        return Budgets(run=run, stall=stall, queue=cluster.queue_seconds, start=cluster.start_seconds)
    return Budgets(run=context.deadline_seconds, stall=stall)


def writer() -> str:
    """Who writes the launcher's records: user, host and process."""
    return f"launcher {user_name(os.geteuid())}@{socket.gethostname()}/{os.getpid()}"


def _not_started(
    attempts: Attempts, attempt: Attempt, error: OSError | FactoryError, backend: Backend, *, launched: bool
) -> RunResult:
    text = f"the attempt could not be started: {error}"
    failure = Failure(type=type(error).__name__, text=text, code="not_started")
    if isinstance(error, FactoryError) and error.code == "job_owned":
        attempts.end(attempt.number, "refused", writer=writer(), error=failure)
        raise error
    backend.clear(attempt, attempts.path(attempt.number))
    ended = attempts.end(attempt.number, "failed_infrastructure", writer=writer(), error=failure)
    outcome = ended.outcome or "failed_infrastructure"
    return RunResult(attempts.run, attempts.directory.parent, outcome, attempt.number, (), ended.error, launched)


def _follow(attempts: Attempts, attempt: Attempt, watch: Watch, listener: Listener, *, launched: bool) -> RunResult:
    """Watch the attempt to its end and record it."""
    run, directory = attempts.run, attempts.directory.parent
    messages: list[Message] = []
    end = Ended(None)
    try:
        for event in watch.events():
            match event:
                case Arrived(message):
                    messages.append(message)
                    listener.message(message)
                case Log(text):
                    listener.log(text)
                case Change(text):
                    listener.change(text)
                case Ended():
                    end = event
    except BaseException:
        if listener.stop() == "stop":
            end = watch.cancel()
            if end.outcome is not None:
                attempts.end(attempt.number, end.outcome, writer=writer(), error=end.error)
        raise
    if end.outcome is None:
        return RunResult(run, directory, "detached", attempt.number, tuple(messages), None, launched)
    ended = attempts.end(attempt.number, end.outcome, writer=writer(), error=end.error)
    listener.change(f"attempt {attempt.number} of {run} ended as {ended.outcome}")
    return RunResult(
        run, directory, ended.outcome or end.outcome, attempt.number, tuple(messages), ended.error, launched
    )


def _same_spec(attempt: Attempt, plan: Plan, directory: Path) -> None:
    if attempt.spec != plan.hash:
        raise FactoryError(
            f"attempt {attempt.number} in {directory} runs another spec",
            found=attempt.spec,
            expected=plan.hash,
            fix="launch under another name",
            code="run_owned",
        )


def _signal(stop: Callable[[], bool | Signal] | None) -> Callable[[], Signal]:
    def ask() -> Signal:
        said = stop() if stop is not None else "run"
        if isinstance(said, bool):
            return "stop" if said else "run"
        return said

    return ask


def _ignore(_: object) -> None:
    return None
