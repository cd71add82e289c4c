"""The asset graph as a file that people review."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import dagster as dg

GOLDEN = Path(__file__).parents[1] / "golden"


def graph(defs: dg.Definitions) -> dict[str, Any]:
    """Assets by key, with what is declared about each; code versions apart, which change with every line of code."""
    repository = defs.get_repository_def()
    found: dict[str, Any] = {}
    checks = {
        spec.key: {check.name: "blocking" if check.blocking else "reported" for check in definition.check_specs}
        for definition in repository.assets_defs_by_key.values()
        for spec in definition.specs
    }
    for spec in defs.resolve_all_asset_specs():
        own = checks.get(spec.key, {})
        found["/".join(spec.key.path)] = {
            "deps": sorted("/".join(dep.asset_key.path) for dep in spec.deps),
            "checks": dict(sorted(own.items())),
            "kinds": sorted(spec.kinds),
            "owners": sorted(spec.owners),
            "group": spec.group_name,
            "tags": {name: value for name, value in sorted(spec.tags.items()) if "/kind/" not in name},
            "automation": spec.automation_condition is not None,
        }
    return {
        "assets": dict(sorted(found.items())),
        "jobs": sorted(job.name for job in repository.get_all_jobs() if not job.name.startswith("__")),
        "schedules": {one.name: one.default_status.value for one in repository.schedule_defs},
        "sensors": {one.name: one.default_status.value for one in repository.sensor_defs},
    }


def reviewed(name: str, defs: dg.Definitions) -> None:
    """The graph is the one in tests/golden."""
    path = GOLDEN / f"{name}.json"
    written = json.dumps(graph(defs), indent=1) + "\n"
    if os.environ.get("AIFACTORY_GOLDEN") == "write":
        path.write_text(written)
    assert path.read_text() == written, "review the change, then run this with AIFACTORY_GOLDEN=write"
