"""What a cluster holds against what the runs' records say: who is stopped, who is lost, what nobody owns. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from aifactory.launch.runs.names import job_name
from aifactory.launch.runs.result import Outcome

ENDED_SECONDS = 120.0
STALE_SECONDS = 3600.0
UNKNOWN_SECONDS = 24 * 3600.0
"""Long: somebody else's control plane may use the same namespace by mistake."""
UNWANTED_SECONDS = 600.0


@dataclass(frozen=True)
class Held:
    """An object of ours on a cluster: of which run and attempt, and its age in seconds. `owned`: something that will
    take it along when it goes is there."""

    kind: str
    name: str
    run: str
    attempt: int
    age: float
    spec: str = ""
    owned: bool = False

    @property
    def job(self) -> str:
        return job_name(self.run, self.attempt)


@dataclass(frozen=True)
class Known:
    """The newest attempt of a run, by its records. `outcome` None: it has no recorded end, and `ended` is how it ended
    by its own last message, if it did. `made`: its RayJob was there once. `unwanted`: for how many seconds nobody has
    wanted it any more (its Dagster run has ended and is not retried); None while somebody may."""

    run: str
    attempt: int
    outcome: Outcome | None
    made: bool
    age: float
    ended: Outcome | None = None
    unwanted: float | None = None


@dataclass(frozen=True)
class Action:
    """`report` does nothing yet. `stop`: gracefully, and record it; `delete`: what is left of an attempt that has
    ended; `lost`: record that it is; `sweep`: an object that nothing will take along."""

    what: Literal["report", "stop", "delete", "lost", "sweep"]
    run: str
    attempt: int
    why: str
    kind: str = "RayJob"
    name: str = ""
    spec: str = ""


def actions(held: Iterable[Held], known: Mapping[str, Known]) -> list[Action]:
    """What there is to do on one cluster. `held` is all of ours that is there, `known` every run of that cluster by its
    name. A run that lives and is wanted, or whose end somebody is just bringing about, is left alone."""
    held = list(held)
    jobs = {one.name for one in held if one.kind == "RayJob"}
    found = [action for one in held if (action := _held(one, known.get(one.run), jobs)) is not None]
    return found + [action for one in known.values() if (action := _known(one, jobs)) is not None]


def _held(one: Held, run: Known | None, jobs: set[str]) -> Action | None:
    if one.kind != "RayJob":
        # What its RayJob owns goes with it; what a launcher has made just now gets its RayJob in a moment.
        if one.owned or one.job in jobs or one.age < STALE_SECONDS:
            return None
        why = f"its RayJob {one.job} is not there"
        return Action("sweep", one.run, one.attempt, why, one.kind, one.name)
    if run is None:
        what: Literal["report", "delete"] = "report" if one.age < UNKNOWN_SECONDS else "delete"
        return Action(what, one.run, one.attempt, "no run of this name is known here", name=one.name, spec=one.spec)
    if one.attempt < run.attempt or (run.outcome is not None and one.attempt == run.attempt):
        if one.age < ENDED_SECONDS or (one.attempt == run.attempt and run.age < ENDED_SECONDS):
            return None
        why = "a newer attempt has followed it" if one.attempt < run.attempt else f"its attempt ended as {run.outcome}"
        return Action("delete", one.run, one.attempt, why, name=one.name, spec=one.spec)
    if run.unwanted is not None:
        gone = run.unwanted > UNWANTED_SECONDS
        why = f"its Dagster run ended {run.unwanted:.0f} s ago and is not retried"
        return Action("stop" if gone else "report", one.run, one.attempt, why, name=one.name, spec=one.spec)
    return None


def _known(one: Known, jobs: set[str]) -> Action | None:
    if one.outcome is not None or job_name(one.run, one.attempt) in jobs or not one.made or one.age < ENDED_SECONDS:
        return None
    why = f"its RayJob is gone, and its last message says {one.ended}" if one.ended else "its RayJob is gone"
    return Action("lost", one.run, one.attempt, why)
