"""Which run a training is compared with: its parent, its recipe's baseline, or what came before it in its line."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from aifactory.errors import FactoryError
from aifactory.launch.plans.plan import Plan
from aifactory.launch.runs.attempts import Attempts
from aifactory.launch.runs.names import run_name
from aifactory.launch.runs.summary import RUNS, RunSummary, runs_directories, summary
from aifactory.namespace import Namespace


@dataclass(frozen=True)
class Previous:
    """The directory of the run to compare with, and why it is that one."""

    directory: Path
    why: str


def previous_training(ns: Namespace, plan: Plan, run: str, *, parent: str | None = None) -> Previous | None:
    """The run that was executed again (`parent`: its origin), else the newest run of the declared baseline, else the
    newest successful run of the line; None for the first of its line.

    Only what was started before `run` is looked at, so that whoever comes back finds the same one, and only runs that
    are public or of the plan's own class: a comparison shows what the other one read.
    """
    above = None if parent is None else run_of_origin(ns, plan.kind, parent)
    if above is not None and above.parent in _readable(ns, plan):
        return Previous(above, "the run that was executed again")
    known = sorted(_before(ns, plan, run), key=lambda one: one.started or "", reverse=True)
    baseline, line = plan.context.baseline, plan.context.line
    for one in known:
        if baseline is not None and one.recipe == baseline:
            return Previous(one.directory, f"the newest run of the baseline {baseline}")
    for one in known:
        if line is not None and one.target == line and one.state == "succeeded":
            return Previous(one.directory, f"the newest successful run of the line {line}")
    return None


def run_of_origin(ns: Namespace, kind: str, origin: str) -> Path | None:
    """The run that this origin asked for, whatever its label is: names end in a hash of the origin."""
    suffix = run_name(kind, "", origin).rpartition("-")[2]
    found = (path for directory in runs_directories(ns) for path in sorted(directory.glob(f"{kind}-*-{suffix}")))
    return next((path for path in found if (path / "context.json").is_file()), None)


def _readable(ns: Namespace, plan: Plan) -> set[Path]:
    own = ns.class_of(plan.class_root)
    return {root / RUNS for of in {"public", own} for root in ns.class_roots(of)}


def _before(ns: Namespace, plan: Plan, run: str) -> Iterator[RunSummary]:
    own = Attempts(plan.class_root / RUNS / run).all()
    until = own[0].started if own else None
    for directory in _readable(ns, plan):
        for path in directory.glob(f"{plan.kind}-*"):
            if path.name == run or not (path / "context.json").is_file():
                continue
            try:
                one = summary(path)
            except FactoryError:
                continue  # a damaged run is told by `aifactory runs`, and compared with nothing
            if one.started is not None and (until is None or one.started < until):
                yield one
