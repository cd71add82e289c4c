"""Launch a plan: gate, create or adopt an attempt, watch it, close it."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from aifactory.channel import Message, Reader
from aifactory.channel.payloads import Failure
from aifactory.errors import FactoryError
from aifactory.launch.backend import Interrupted, Local
from aifactory.launch.clusters.registry import AnyCluster, load_clusters
from aifactory.launch.gate.check_in import check_in
from aifactory.launch.gate.waiting import DataWait
from aifactory.launch.mounts import mounts_of
from aifactory.launch.plans.plan import Plan
from aifactory.launch.runs.attempts import Attempt, Attempts, decide
from aifactory.launch.runs.names import run_name
from aifactory.launch.runs.result import TRY_AGAIN, Outcome, RunResult, Signal
from aifactory.launch.runs.summary import RUNS
from aifactory.launch.runs.watch import Arrived, Budgets, Change, Ended, Log, Watch
from aifactory.launch.sites.ahead import read_ahead
from aifactory.namespace import Namespace
from aifactory.namespace.identities import user_name
from aifactory.project import Project
from aifactory.spec import Context

AGAIN = TRY_AGAIN | {"failed_code"}


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
    `tries`: a failed attempt (its code, or lost) is followed by another until the run has that many.
    Budgets: the context's deadline_seconds from the attempt's record on, and its stall_seconds (else those of its
    cluster) without a word.
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
    cluster = load_clusters(project).get(plan.context.cluster)
    _runs_here(plan.context, cluster)
    backend = Local(plan, directory, ns=ns, project=project, say=listener.change)
    budgets = _budgets(plan.context, cluster)
    private = ns.class_of(plan.class_root) != "public"
    while True:
        newest = attempts.settle(writer=writer())
        decision = decide(newest, tries=tries)
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
            child = (backend.create if launched else backend.adopt)(attempt.number, attempts.path(attempt.number))
        except (OSError, FactoryError) as error:
            result = _not_started(attempts, attempt, error, launched=launched)
        else:
            watch = Watch(attempts, attempt, child=child, stop=listener.stop, budgets=budgets, private=private)
            result = _follow(attempts, attempt, watch, listener, launched=launched)
        if result.outcome not in AGAIN or attempt.number >= tries:
            return result


def _runs_here(context: Context, cluster: AnyCluster | None) -> None:
    if cluster is not None and not cluster.laptop:
        raise FactoryError(
            f"nothing launches on {context.cluster} from here yet",
            found=f"backend {cluster.backend}",
            expected="backend local",
            fix="launch on `local`",
            code="backend",
        )


def _given_up(interrupted: Interrupted) -> Outcome | Literal["detached"]:
    return "cancelled" if interrupted.signal == "stop" else "detached"


def _budgets(context: Context, cluster: AnyCluster | None) -> Budgets:
    usual = cluster.stall_seconds if cluster is not None else None
    return Budgets(run=context.deadline_seconds, stall=context.stall_seconds or usual)


def writer() -> str:
    """Who writes the launcher's records: user, host and process."""
    return f"launcher {user_name(os.geteuid())}@{socket.gethostname()}/{os.getpid()}"


def _not_started(attempts: Attempts, attempt: Attempt, error: Exception, *, launched: bool) -> RunResult:
    text = f"the process could not be started: {error}"
    failure = Failure(type=type(error).__name__, text=text, code="not_started")
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
