"""`aifactory launch`: run it here, watched to its end."""

from __future__ import annotations

import signal
import sys
from types import FrameType
from typing import TYPE_CHECKING, Annotated

import typer

from aifactory.cli.failures import FAILED
from aifactory.cli.output import JsonOption, print_json
from aifactory.cli.plan import (
    Allow,
    Cluster,
    Image,
    InputsOf,
    OptionalTarget,
    Overrides,
    Pins,
    Priority,
    Queue,
    ResumeFrom,
    Shape,
    Why,
    make,
)

if TYPE_CHECKING:
    from aifactory.channel import Message


def launch_command(
    what: OptionalTarget = None,
    overrides: Overrides = None,
    cluster: Cluster = "local",
    queue: Queue = None,
    priority: Priority = None,
    shape: Shape = None,
    spec: Annotated[
        str | None,
        typer.Option(help="The hash of a frozen spec (8 digits or more), launched as it is.", metavar="HASH"),
    ] = None,
    resolution: Annotated[
        int | None,
        typer.Option(help="What the spec was resolved for (recipe, line, suites), by number; the newest else."),
    ] = None,
    pins: Pins = None,
    inputs_of: InputsOf = None,
    image: Image = None,
    resume_from: ResumeFrom = None,
    allow: Allow = None,
    why: Why = "",
    deadline: Annotated[
        float | None, typer.Option(help="End an attempt that takes longer.", metavar="SECONDS", min=1)
    ] = None,
    stall: Annotated[
        float | None,
        typer.Option(
            help="End an attempt that says nothing for so long; the cluster's else.", metavar="SECONDS", min=1
        ),
    ] = None,
    prefetch: Annotated[
        bool, typer.Option("--prefetch", help="First read once what it reads, at the cluster's site.")
    ] = False,
    name: Annotated[str | None, typer.Option("--run", help="Go on with the run of this name.")] = None,
    logs: Annotated[bool, typer.Option("--logs", help="Show the driver's log too.")] = False,
    as_json: Annotated[bool, JsonOption] = False,
) -> None:
    """Plan and launch it, and watch it to its end; Ctrl-C stops it.

    Prints the run's name first. The same name again is the same run: a living attempt is adopted, a succeeded one is
    replayed, a lost one is followed by another.
    """
    from aifactory.channel.logs import driver_log
    from aifactory.launch import launch, run_name
    from aifactory.launch.runs.attempts import Attempts
    from aifactory.launch.scope import Scope
    from aifactory.namespace import Namespace

    planned = make(
        what,
        overrides,
        cluster,
        queue,
        priority,
        spec,
        shape=shape,
        allow=allow,
        why=why,
        pins=pins,
        inputs_of=inputs_of,
        image=image,
        resolution=resolution,
        deadline=deadline,
        stall=stall,
        resume_from=resume_from,
        prefetch=prefetch,
    )
    Scope.current().require(Namespace.open().canonical(planned.path), f"the {planned.kind} {planned.label}")
    name = name or run_name(planned.kind, planned.label)
    say(f"run {name}   spec {planned.hash}")
    stopped = Stop()
    result = launch(
        planned,
        run=name,
        on_message=show_message,
        on_log=(lambda text: print(text, end="", file=sys.stderr)) if logs else None,
        on_change=say,
        stop=stopped.asked,
    )
    if as_json:
        print_json(
            {
                "run": result.run,
                "spec": planned.hash,
                "outcome": result.outcome,
                "attempt": result.attempt,
                "directory": str(result.directory),
                "error": result.error.model_dump() if result.error else None,
            }
        )
    say(f"{result.outcome}: {result.directory}")
    if result.error is not None:
        say(f"  {result.error.type}: {result.error.text}")
        say(f"  log: {driver_log(Attempts(result.directory).path(result.attempt))}")
    if not result.succeeded:
        raise typer.Exit(FAILED)


class Stop:
    """The first Ctrl-C asks the run to stop, the second one ends this command."""

    def __init__(self) -> None:
        self._asked = False
        signal.signal(signal.SIGINT, self._take)
        signal.signal(signal.SIGTERM, self._take)

    def asked(self) -> bool:
        return self._asked

    def _take(self, number: int, frame: FrameType | None) -> None:
        if self._asked:
            raise KeyboardInterrupt
        self._asked = True
        say("stopping the run (again to leave at once)")


def show_message(message: Message) -> None:
    """One line for the person who watches."""
    from aifactory.channel import Audited, CheckpointSaved, Note, Progress, Scored, StageBuilt

    payload = message.payload
    if isinstance(payload, Progress):
        total = f" of {payload.total:,}" if payload.total is not None else ""
        say(f"  {payload.text}: {payload.done:,}{total} {payload.unit}".rstrip())
    elif isinstance(payload, StageBuilt):
        rows = f", {payload.rows:,} rows" if payload.rows is not None else ""
        say(f"  {payload.key}@{payload.version[:16]} {payload.outcome}{rows}")
    elif isinstance(payload, Audited):
        state = "passed" if payload.passed else f"FAILED: {payload.reason}"
        say(f"  check {payload.check}: {state}")
    elif isinstance(payload, CheckpointSaved):
        say(f"  checkpoint at step {payload.step}: loss {payload.loss:.4f}   {payload.path}")
    elif isinstance(payload, Scored):
        say(f"  {payload.key} {payload.metric}: {payload.value:.4f} [{payload.low:.4f}, {payload.high:.4f}]")
    elif isinstance(payload, Note):
        say(f"  {payload.text}")


def say(text: str) -> None:
    """Progress goes to standard error: standard output is the result's."""
    print(text, file=sys.stderr, flush=True)
