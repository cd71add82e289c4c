"""What a training changed, as the UI shows it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import dagster as dg

from aifactory.channel.safe import is_private
from aifactory.errors import FactoryError
from aifactory.launch import Plan
from aifactory.launch.compare import compare, side_of_plan, side_of_run
from aifactory.launch.previous import previous_training
from aifactory.launch.runs.summary import RUNS
from aifactory.namespace import Namespace
from aifactory.orchestrate.guard import in_words
from aifactory.orchestrate.origin import origin_of
from aifactory.orchestrate.tables import table
from aifactory.spec.diff_text import summary, values
from aifactory.spec.difference import Diff


@dataclass(frozen=True)
class Comparison:
    """A diff and the words about it: neither names a file of the data, since private ones are shown too."""

    diff: Diff
    why: str

    @property
    def head(self) -> str:
        return f"compared with {self.diff.old}, {self.why}: {self.diff.verdict}"

    def text(self) -> str:
        """The head, and a line for each field: a log shows no tables."""
        lines = [self.head]
        for one in self.diff.changes:
            known = f"   {summary(one)}" if summary(one) else ""
            lines.append(f"  {one.group} {one.name}: {' -> '.join(values(one))}{known}")
        return "\n".join(lines)

    def markdown(self) -> str:
        """The verdict, and a table of the fields."""
        rows = [
            {"group": one.group, "field": one.name, "old": old, "new": new, "what is known": summary(one)}
            for one in self.diff.changes
            for old, new in [values(one)]
        ]
        return f"{self.diff.verdict}\n\n{table(rows)}" if rows else self.diff.verdict

    def metadata(self) -> dict[str, Any]:
        """For the step's output."""
        return {
            "compared_with": f"{self.diff.old}, {self.why}",
            "identical_except": f"[{', '.join(self.diff.except_for)}]",
            "diff": dg.MetadataValue.md(self.markdown()),
        }


def compared(context: dg.OpExecutionContext, plan: Plan, run: str) -> Comparison | None:
    """The run's difference from the one that it follows, logged; None where there is none.

    A record that can't be read stops no training: it is a warning in the log.
    """
    ns = Namespace.open()
    try:
        parent = origin_of(context.instance, context.run, context.op_def.name).parent
        previous = previous_training(ns, plan, run, parent=parent)
        if previous is None:
            context.log.info(f"{run} is compared with nothing: it is the first of its line {plan.context.line}")
            return None
        found = Comparison(compare(side_of_run(previous.directory), side_of_plan(plan, run), ns=ns), previous.why)
    except (FactoryError, OSError) as error:
        said = in_words(error, private=is_private(plan.class_root / RUNS / run))
        context.log.warning(f"{run} could not be compared with an earlier run: {said}")
        return None
    context.log.info(found.text())
    return found
