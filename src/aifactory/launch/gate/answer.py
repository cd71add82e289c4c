"""The gate's answer about one plan: what `plan` shows and what a launch obeys."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from aifactory.launch.gate.facts import Facts
from aifactory.launch.gate.gather import gather
from aifactory.launch.gate.rules import gate
from aifactory.launch.gate.site_rules import DATA
from aifactory.launch.plans.allowance import split
from aifactory.launch.plans.plan import Plan
from aifactory.launch.refusal import Refusal
from aifactory.launch.runs.summary import RUNS
from aifactory.namespace import Namespace
from aifactory.project import Project


@dataclass(frozen=True)
class Answer:
    """`refusals` stand; `allowed` ones were overridden for the reason `why`; `facts` are what was looked at."""

    refusals: tuple[Refusal, ...]
    allowed: tuple[Refusal, ...] = ()
    why: str = ""
    facts: Facts | None = None

    @property
    def outcome(self) -> str:
        return "refused" if self.refusals else "passed"

    @property
    def waits(self) -> bool:
        """Whether a launch would first wait, as long as its site allows: all that it lacks is data on its way."""
        return bool(self.refusals) and {one.code for one in self.refusals} <= DATA

    def document(self) -> dict[str, Any]:
        """As JSON values, without the facts."""
        found: dict[str, Any] = {"outcome": self.outcome, "refusals": [asdict(one) for one in self.refusals]}
        if self.waits:
            found["waits"] = True
        if self.allowed:
            found |= {"allowed": [asdict(one) for one in self.allowed], "why": self.why}
        return found


def ask(
    plan: Plan, directory: Path | None = None, *, project: Project | None = None, ns: Namespace | None = None
) -> Answer:
    """Gather and ask. `directory`: that of the run, whose name is asked about too; a run without a name else."""
    project = project or Project.current()
    ns = ns or Namespace.of(project)
    directory = directory or plan.class_root / RUNS / f"{plan.kind}-unnamed"
    facts = gather(plan, directory.name, directory, ns=ns, project=project)
    refusals, allowed = split(gate(facts), plan.context.allow)
    return Answer(tuple(refusals), tuple(allowed), plan.context.why if allowed else "", facts)
