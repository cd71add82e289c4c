"""A run's directory: made once for one spec, with the gate's answer in it."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path

from aifactory.launch.gate.answer import ask
from aifactory.launch.plans.plan import Plan
from aifactory.launch.refusal import GateRefused, Refusal
from aifactory.launch.runs.summary import GATE
from aifactory.namespace import Namespace
from aifactory.project import Project
from aifactory.spec import Context, RunSpec
from aifactory.store import Store, canonical


def check_in(plan: Plan, directory: Path, *, ns: Namespace, project: Project) -> Plan:
    """Make the run's directory (spec.json, context.json, gate.json) unless it is there, and give back the plan with
    the context that stands in it.

    The gate is asked once, before the first attempt; its answer stands. Raises GateRefused, or FactoryError, code
    "edited", when a spec was changed since it was frozen.
    """
    frozen = RunSpec.load(plan.path, plan.hash)
    store = Store(directory)
    answer = store.read(GATE)
    if answer is None or RunSpec.load(directory / "spec.json").hash != plan.hash:
        found = ask(plan, directory, ns=ns, project=project)
        if found.facts is not None and found.facts.owner is not None:
            raise GateRefused(list(found.refusals))
        record = {
            **found.document(),
            "asked": datetime.now(UTC).isoformat(timespec="seconds"),
            "facts": asdict(found.facts) if found.facts is not None else {},
        }
        store.put("spec.json", frozen.to_bytes())
        store.put("context.json", plan.context.to_bytes())
        store.put(GATE, canonical(record) + b"\n")
        answer = store.read(GATE)
    RunSpec.load(directory / "spec.json", plan.hash)
    recorded = json.loads(answer or b"{}")
    if recorded["outcome"] == "refused":
        raise GateRefused([Refusal(**refusal) for refusal in recorded["refusals"]])
    return replace(plan, context=Context.load(directory / "context.json"))
