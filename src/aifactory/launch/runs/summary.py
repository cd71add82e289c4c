"""Runs in the namespace: finding one, listing all, and the state of each."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from aifactory.errors import FactoryError
from aifactory.launch.clusters.registry import close_matches
from aifactory.launch.runs.attempts import LOCAL, Attempt, Attempts
from aifactory.launch.runs.names import RUN_NAME
from aifactory.launch.runs.phases import Phases
from aifactory.launch.runs.result import Outcome
from aifactory.namespace import Namespace
from aifactory.spec import Context, RunSpec
from aifactory.store import Store

RUNS = "runs"
GATE = "gate.json"
LIVE = ("queued", "starting", "running")
STATES = (*get_args(Outcome), *LIVE, "planned", "damaged")


@dataclass(frozen=True)
class RunSummary:
    """One line about a run. `state`: an outcome, "queued", "starting", "running", "planned" (no attempt yet) or
    "damaged". Times in UTC.
    `about`: what it is a run of, as people say it: a key, a recipe, a training and its step, a version of a line."""

    run: str
    directory: Path
    kind: str
    hash: str
    recipe: str | None
    target: str
    state: str
    attempts: int
    requester: str
    started: str | None
    ended: str | None
    about: str = ""


def runs_directories(ns: Namespace) -> Iterator[Path]:
    """`runs/` of every class root that has one and that this user may read, in any root, the first one's first."""
    yield from (root / RUNS for root in ns.class_roots() if (root / RUNS).is_dir())


def find_run(ns: Namespace, run: str) -> Path | None:
    """The directory of a run, or None."""
    if not RUN_NAME.fullmatch(run):
        raise FactoryError(
            f"{run!r} is no name of a run",
            expected="lower-case letters, digits and hyphens, at most 40, a letter first",
            fix="`aifactory runs` lists the names",
            code="run_name",
        )
    return next((path / run for path in runs_directories(ns) if (path / run / "spec.json").is_file()), None)


def get_run(ns: Namespace, run: str) -> Path:
    """The directory of a run. Raises FactoryError, code "unknown_run", with close matches."""
    found = find_run(ns, run)
    if found is None:
        known = [path.name for directory in runs_directories(ns) for path in directory.iterdir()]
        raise FactoryError(
            f"there is no run {run!r}",
            expected=close_matches(run, known),
            fix="`aifactory runs` lists the runs",
            code="unknown_run",
        )
    return found


def runs(ns: Namespace) -> list[RunSummary]:
    """Every run, newest first; one whose records are damaged has the state "damaged"."""
    found: dict[str, RunSummary] = {}
    for directory in runs_directories(ns):
        for path in _runs_in(directory):
            if path.name not in found:  # the first root's counts, as where one run is looked for
                found[path.name] = _listed(ns, path)
    return sorted(found.values(), key=lambda run: run.started or "", reverse=True)


def _listed(ns: Namespace, directory: Path) -> RunSummary:
    try:
        return summary(directory, away=ns.is_away(directory))
    except FactoryError:
        kind = directory.name.partition("-")[0]
        return RunSummary(directory.name, directory, kind, "", None, "", "damaged", 0, "", None, None)


def summary(directory: Path, *, away: bool = False) -> RunSummary:
    """What there is to say about the run in `directory`; `away`: it is one of another site, whose processes can't be
    seen from here."""
    spec, context = RunSpec.load(directory / "spec.json"), Context.load(directory / "context.json")
    attempts = Attempts(directory)
    known = attempts.all()
    newest = known[-1] if known else None
    return RunSummary(
        run=directory.name,
        directory=directory,
        kind=spec.kind,
        hash=spec.hash,
        recipe=context.recipe,
        target=spec.build.key if spec.kind == "build" else context.line or "",
        state=state_of(directory, attempts, newest, away=away),
        attempts=len(known),
        requester=context.requester,
        started=known[0].started if known else None,
        ended=newest.ended if newest else None,
        about=_about(spec, context),
    )


def _about(spec: RunSpec, context: Context) -> str:
    if spec.kind == "build":
        return spec.build.key
    if spec.kind == "smoke":
        return f"image {spec.image.digest[:16]} on {context.cluster}"
    if spec.kind == "evaluate":
        if models := spec.inputs_of("model"):
            return models[0].name
        step = next((int(place[-8:]) for place in context.places.values() if place[-8:].isdigit()), None)
        if context.parent_run and step is not None:
            return f"{context.parent_run}/{step}"
    return context.recipe or context.line or ""


def _runs_in(directory: Path) -> list[Path]:
    # context.json is written last, so what lacks it is just being made.
    return [path for path in directory.iterdir() if (path / "context.json").is_file()]


def state_of(directory: Path, attempts: Attempts, newest: Attempt | None, *, away: bool = False) -> str:
    """What there is to say about a run in one word, from its files alone."""
    if newest is None:
        answer = Store(directory).read(GATE)
        return "refused" if answer is not None and json.loads(answer)["outcome"] == "refused" else "planned"
    if newest.outcome is not None:
        return newest.outcome
    seen = attempts.ended_by_itself(newest)
    if seen is not None and not (away and seen[0] == "lost"):
        return seen[0]
    rows = Phases(attempts.path(newest.number)).all() if newest.backend != LOCAL else []
    return rows[-1].phase if rows else "running"
