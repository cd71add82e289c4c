"""docs/outcomes.md lists every reason as the code has it."""

from __future__ import annotations

import os
from pathlib import Path

from aifactory.launch.kuberay.observe import BY_PHASE, Reason
from aifactory.launch.runs.result import Outcome

PAGE = Path(__file__).parents[4] / "docs" / "outcomes.md"
BEGIN, END = "<!-- reasons -->\n", "<!-- /reasons -->"


def test_the_page_has_the_table_of_the_code() -> None:
    text = PAGE.read_text()
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    written = f"{before}{BEGIN}{tables()}{END}{after}"
    if os.environ.get("AIFACTORY_GOLDEN") == "write":
        PAGE.write_text(written)
    assert PAGE.read_text() == written, "review the change, then run this with AIFACTORY_GOLDEN=write"


def test_the_page_explains_every_outcome() -> None:
    text = PAGE.read_text()
    assert all(f"| `{outcome}` |" in text for outcome in Outcome.__args__)  # type: ignore[attr-defined]


def tables() -> str:
    parts = []
    for phase, reasons in BY_PHASE.items():
        if phase == "unknown":
            continue
        third = "outcome" if phase == "ended" else "passes"
        rows = [f"| {phase} | means | {third} | what mends it |", "|---|---|---|---|", *(_row(one) for one in reasons)]
        if phase == "running":
            rows = ["| running | means |", "|---|---|", *(f"| `{one.code}` | {one.means} |" for one in reasons)]
        parts.append("\n".join(rows) + "\n")
    return "\n" + "\n".join(parts) + "\n"


def _row(one: Reason) -> str:
    if one.outcome is not None and not one.hopeless:
        third = f"`{one.outcome}`{', tried again' if one.again else ''}"
    else:
        third = "only by a person" if one.hopeless else "by itself"
    return f"| `{one.code}` | {one.means} | {third} | {one.fix} |"
