"""Launch a plan: gate, create or adopt an attempt, watch it, close it."""

from __future__ import annotations

from collections.abc import Callable

from aifactory.channel import Message
from aifactory.launch.plan import Plan
from aifactory.launch.result import RunResult, Signal
from aifactory.namespace import Namespace
from aifactory.project import Project


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
    Raises GateRefused, or FactoryError for what is wrong with the run's directory (codes "run_owned", "edited").
    """
    raise NotImplementedError
