"""Which images are to be smoked where: a pure function of what is known."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from aifactory.launch.images.verifications import Verification

Action = Literal["run", "skip", "wait", "down"]
State = Literal["live", "green", "red"]


@dataclass(frozen=True)
class Pair:
    """An image (`digest` of its build inputs, `oci` the digest that is pulled) and a cluster. `down`: why the cluster
    can't be reached; empty for one that can."""

    digest: str
    oci: str
    cluster: str
    down: str = ""


@dataclass(frozen=True)
class Past:
    """A smoke that was launched: its run, what of, where, when (UTC), and what became of it; `outcome` as runs have
    it, `link` where a person reads of it."""

    run: str
    digest: str
    cluster: str
    state: State
    at: datetime
    outcome: str = ""
    link: str = ""


@dataclass(frozen=True)
class Decision:
    """What is to be done for a pair, and why, in words; `run` and `link` name the proof (skip), what is at it (wait),
    or the red one before (run)."""

    pair: Pair
    action: Action
    why: str
    run: str = ""
    link: str = ""

    @property
    def text(self) -> str:
        """One line for the tick."""
        said = {"run": "to run", "skip": "green", "wait": "at it", "down": "DOWN"}[self.action]
        link = f" ({self.link})" if self.link else ""
        return f"{self.pair.cluster}, image {self.pair.digest[:16]}: {said}: {self.why}{link}"


@dataclass(frozen=True)
class Rule:
    """`version` of the smoke: a proof of another version is none. `proof_days`: a proof that is older is none either;
    None: a proof stands for ever."""

    version: int
    proof_days: float | None = None


def decide(
    now: datetime, pairs: Sequence[Pair], proofs: Iterable[Verification], history: Iterable[Past], rule: Rule
) -> list[Decision]:
    """One decision for each pair, in their order; at most one of them is "run" for one pair.

    A cluster that is down is only reported. A pair that a smoke is at waits for it. One with a proof of this image, on
    this cluster, of this version, and young enough, is skipped. Everything else runs: so a red one runs again.
    """
    proofs, history = list(proofs), list(history)
    return [_one(now, pair, proofs, history, rule) for pair in dict.fromkeys(pairs)]


def _one(now: datetime, pair: Pair, proofs: list[Verification], history: list[Past], rule: Rule) -> Decision:
    ours = sorted((one for one in history if _of(one, pair)), key=lambda one: one.at)
    if pair.down:
        return Decision(pair, "down", pair.down)
    if (live := next((one for one in reversed(ours) if one.state == "live"), None)) is not None:
        return Decision(pair, "wait", f"{live.run} is at it since {_when(live.at)}", live.run, live.link)
    green = [one for one in proofs if (one.digest, one.oci, one.where) == (pair.digest, pair.oci, pair.cluster)]
    if not green:
        last = ours[-1] if ours else None
        if last is not None and last.state == "red":
            why = f"no green run yet; {last.run} of {_when(last.at)} ended as {last.outcome or 'red'}"
            return Decision(pair, "run", why, last.run, last.link)
        return Decision(pair, "run", "no run of this image here yet")
    newest = max(green, key=lambda one: one.at)
    link = next((one.link for one in ours if one.run == newest.run), "")
    known = [one for one in green if one.smoke == rule.version]
    if not known:
        why = f"its proof {newest.run} is of version {newest.smoke} of the smoke, not of {rule.version}"
        return Decision(pair, "run", why, newest.run, link)
    newest = max(known, key=lambda one: one.at)
    link = next((one.link for one in ours if one.run == newest.run), "")
    at = datetime.fromisoformat(newest.at)
    if rule.proof_days is not None and now - at > timedelta(days=rule.proof_days):
        why = f"its proof {newest.run} of {_when(at)} is older than {rule.proof_days:g} days"
        return Decision(pair, "run", why, newest.run, link)
    return Decision(pair, "skip", f"verified by {newest.run} on {_when(at)}", newest.run, link)


def _of(one: Past, pair: Pair) -> bool:
    return (one.digest, one.cluster) == (pair.digest, pair.cluster)


def _when(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M}"
