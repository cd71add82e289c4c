"""Never two smokes at once of one image on one cluster: `public/claims/<hash of both>`."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from aifactory.launch.claims import STARTING
from aifactory.launch.plans.plan import Plan
from aifactory.launch.runs.summary import RUNS
from aifactory.launch.smoke.known import past
from aifactory.namespace import Namespace
from aifactory.namespace.identities import writer_of
from aifactory.store import Journal, JournalConflict, digest


def claim(plan: Plan, run: str, *, requester: str, ns: Namespace | None = None) -> str | None:
    """Claim image and cluster for `run`. None: they are this run's, also when it comes back; else the run that is at
    it, and nothing is recorded. Of two that claim at once, one wins."""
    ns = ns or Namespace.open()
    root = ns.writable(plan.class_root)
    pair = {"smoke": {"image": plan.spec.image.digest, "cluster": plan.context.cluster}}
    journal = Journal(root / "claims" / digest(pair))
    while True:
        records = journal.records()
        if any(record.body["run"] == run for record in records):
            return None
        for record in reversed(records):
            other = str(record.body["run"])
            if _live(root / RUNS / other, record.at):
                return other
        try:
            body = {"run": run, "spec": plan.hash, "requester": requester}
            journal.append(body, writer=writer_of("public"), expect=len(records))
        except JournalConflict:
            continue
        return None


def _live(directory: Path, claimed: str) -> bool:
    """Whether the run is at it, or is about to be; one that the gate refused is not."""
    if (directory / "context.json").is_file():
        return past(directory).state == "live"
    return datetime.now(UTC) - datetime.fromisoformat(claimed) < STARTING
