"""The evidence of a failed attempt as a step's metadata: what happened, what mends it, what the cluster said."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import dagster as dg

from aifactory.launch.runs.incident import FOLDER, Incident
from aifactory.launch.runs.reasons import fix_of
from aifactory.launch.runs.result import RunResult
from aifactory.orchestrate.tables import table

WIDTH = 500


def incident_metadata(result: RunResult, attempt_directory: Path) -> dict[str, Any]:
    """`code` and `fix` of the failure where they are known, `evidence` and where it is kept if there is any."""
    code = result.error.code if result.error is not None else ""
    found: dict[str, Any] = {}
    if code:
        found["code"] = code
    if fix := fix_of(code):
        found["fix"] = fix
    incident = Incident.load(attempt_directory)
    if incident is not None:
        found["evidence"] = dg.MetadataValue.md(evidence(incident))
        found["evidence kept in"] = dg.MetadataValue.path(str(attempt_directory / FOLDER))
    return found


def evidence(incident: Incident) -> str:
    """Markdown: the summary, the containers, the last events."""
    parts = [table([{"": name, "what": value} for name, value in incident.summary().items()], width=WIDTH)]
    if rows := incident.container_rows():
        parts.append(f"**Containers**\n\n{table(rows, width=WIDTH)}")
    if rows := incident.event_rows():
        parts.append(f"**Last events of the cluster**\n\n{table(rows, width=WIDTH)}")
    return "\n\n".join(parts) + "\n"
