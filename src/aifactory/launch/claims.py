"""Who evaluates a checkpoint: `<class root>/claims/<hash of checkpoint and suites>`, a journal of claimants."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from aifactory.launch.plans.plan import Plan
from aifactory.launch.runs.attempts import Attempts
from aifactory.namespace import Namespace
from aifactory.namespace.identities import writer_of
from aifactory.spec import access_of
from aifactory.store import Journal, JournalConflict, digest

STARTING = timedelta(minutes=5)
"""How long a claimant without an attempt counts as live: images are made before the first one."""


@dataclass(frozen=True)
class Claimant:
    """The run that holds a claim, and what became of it: `live` or `succeeded`."""

    run: str
    state: str


def claim_hash(plan: Plan) -> str:
    """Identifies the checkpoint and the suites of an evaluation by their versions, whatever else its spec says."""
    spec = plan.spec
    scored = [one.version for kind in ("checkpoint", "model") for one in spec.inputs_of(kind)]
    suites = sorted([one.key, one.version] for one in spec.inputs_of("suite"))
    return digest({"checkpoint": sorted(scored), "suites": suites})


def claim(plan: Plan, run: str, *, always: bool, requester: str, ns: Namespace | None = None) -> Claimant | None:
    """Claim the evaluation for `run`. None: it is this run's to do, also when it comes back for its own claim.

    Where another run is at it, or has done it, that one is returned and nothing is recorded, unless `always` (a person
    asked): then the claim is added beside the other's. Of two that claim at once, one wins. Claims of read-only roots
    count as well; of a run there that has not ended nothing more can be seen, and it is live.
    """
    ns = ns or Namespace.open()
    root = plan.path.parents[2]
    writer = writer_of(access_of(plan.spec, plan.context.resolution(), plan.context.grants))
    journal = Journal(root / "claims" / claim_hash(plan))
    while True:
        records = journal.records()
        runs = [str(record.body["run"]) for record in records]
        if run in runs:
            return None
        if not always:
            for record in reversed(records):
                state = _state(Attempts(root / "runs" / str(record.body["run"])), record.at)
                if state is not None:
                    return Claimant(str(record.body["run"]), state)
            if (other := _elsewhere(plan, ns)) is not None:
                return other
        try:
            journal.append({"run": run, "spec": plan.hash, "requester": requester}, writer=writer, expect=len(records))
        except JournalConflict:
            continue
        return None


def _elsewhere(plan: Plan, ns: Namespace) -> Claimant | None:
    roots = [root for root in ns.class_roots() if ns.is_away(root)]
    for root in roots:
        for record in reversed(Journal(root / "claims" / claim_hash(plan)).records()):
            run = str(record.body["run"])
            newest = Attempts(root / "runs" / run).newest()
            outcome = newest.outcome if newest is not None else None
            if newest is not None and outcome in (None, "succeeded"):
                return Claimant(run, "live" if outcome is None else "succeeded")
    return None


def _state(attempts: Attempts, claimed: str) -> str | None:
    newest = attempts.newest()
    if newest is None:
        young = datetime.now(UTC) - datetime.fromisoformat(claimed) < STARTING
        return "live" if young else None
    outcome = newest.outcome
    if outcome is None:
        ended = attempts.ended_by_itself(newest)
        outcome = None if ended is None else ended[0]
    if outcome is None:
        return "live"
    return "succeeded" if outcome == "succeeded" else None
