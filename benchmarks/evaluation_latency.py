"""From a checkpoint on disk to its evaluation, beside a stock Dagster asset sensor with default settings, in one run.

Trains the recipe `tiny` (two workers, three checkpoints) in a scratch namespace, with the demonstration's settings and
the training beside the evaluations. For each checkpoint, in seconds after its `checkpoint.json` was written: the run of
the evaluation requested, STARTED, its first items scored. The stock job does nothing. Prints JSON.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import tempfile
import time
from datetime import datetime
from pathlib import Path
from typing import Any

from machine import describe

from aifactory.channel import Progress, Scored
from aifactory.datasets import find_stages
from aifactory.laptop.freshness import upstream
from aifactory.laptop.graphql import ENDED, Client, wait
from aifactory.laptop.results import messages
from aifactory.laptop.services import Services
from aifactory.launch.runs.summary import runs
from aifactory.namespace import Namespace
from aifactory.project import Project
from aifactory.spec import find_recipes

CHECKOUT = Path(__file__).resolve().parents[1]
STOCK = '''
"""The checkout's definitions, and beside them what Dagster's documentation shows for a job that follows an asset."""

from pathlib import Path

import dagster as dg

from aifactory.orchestrate.location import load


@dg.op
def nothing() -> None:
    """Nothing."""


@dg.job
def stock_job() -> None:
    nothing()


@dg.asset_sensor(
    asset_key=dg.AssetKey({key}), job=stock_job, default_status=dg.DefaultSensorStatus.RUNNING
)
def stock_sensor(context: dg.SensorEvaluationContext, asset_event: dg.EventLogEntry) -> dg.RunRequest:
    step = asset_event.asset_materialization.metadata["step"].value
    return dg.RunRequest(run_key=context.cursor, tags={{"step": str(step)}})


defs = dg.Definitions.merge(
    load(Path({checkout!r})), dg.Definitions(jobs=[stock_job], sensors=[stock_sensor])
)
'''


def scratch(root: Path, line: str) -> Project:
    """The checkout's datasets and recipes, with the stock sensor beside ours."""
    project = root / "project"
    for folder in ("assets", "checks", "recipes", "locks"):
        shutil.copytree(CHECKOUT / folder, project / folder, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(CHECKOUT / "clusters.toml", project)
    (project / "definitions").mkdir()
    key = [*line.split("/"), "checkpoints"]
    (project / "definitions" / "__init__.py").write_text(STOCK.format(key=key, checkout=str(CHECKOUT)))
    shutil.copy(CHECKOUT / "definitions" / "dagster.yaml", project / "definitions")
    os.environ |= {
        "AIFACTORY_PROJECT": str(project),
        "AIFACTORY_STATE": str(root / "state"),
        "AIFACTORY_ROOT": str(root / "namespace"),
        "AIFACTORY_ENVS": os.environ.get("AIFACTORY_ENVS") or str(CHECKOUT / ".aifactory" / "envs"),
    }
    return Project.current()


def finish(client: Client, run: str) -> None:
    """Wait for the Dagster run; a failure ends the benchmark."""
    wait(f"the end of {run}", 900, lambda: client.run(run)["status"] in ENDED, pause=1)
    if client.run(run)["status"] != "SUCCESS":
        raise SystemExit(f"the Dagster run {run} ended as {client.run(run)['status']}")


def checkpoints(ns: Namespace) -> dict[int, float]:
    """Steps of the training, with the time at which each checkpoint was whole on disk."""
    (training,) = [run for run in runs(ns) if run.kind == "train"]
    return {
        int(path.parent.name.removeprefix("step-")): path.stat().st_mtime
        for path in sorted(training.directory.glob("checkpoints/step-*/checkpoint.json"))
    }


def first_items(ns: Namespace, dagster_run: str) -> float | None:
    """When the evaluation that this Dagster run launched had its first items scored."""
    from aifactory.spec import Context

    for run in runs(ns):
        origin = Context.load(run.directory / "context.json").origin or ""
        if run.kind == "evaluate" and origin.partition("/")[0] == dagster_run:
            for message in messages(run.directory, run.attempts):
                payload = message.payload
                if isinstance(payload, Scored) or (isinstance(payload, Progress) and payload.done > 0):
                    return datetime.fromisoformat(message.time).timestamp()
    return None


def middle(rows: list[dict[str, Any]], name: str) -> float | None:
    values = [float(row[name]) for row in rows if row.get(name) is not None]
    return round(statistics.median(values), 1) if values else None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--recipe", default="tiny")
    given = parser.parse_args()
    recipe = find_recipes(Project.current())[given.recipe]
    with tempfile.TemporaryDirectory() as folder:
        project = scratch(Path(folder), recipe.line)
        ns, services = Namespace.of(project), Services(project)
        try:
            client, _ = services.start(daemon=False)
            stages = upstream(find_stages(project), [*recipe.build().mix.keys, *recipe.suites])
            finish(client, client.materialize(stages))
            services.start()
            client.switch("default_automation_condition_sensor", False)
            wait("the stock sensor's first tick", 120, lambda: client.sensors()["stock_sensor"]["tick"] is not None)
            training = client.launch_job("train", {"ops": {"train": {"config": {"recipe": given.recipe}}}})
            finish(client, training)
            saved = checkpoints(ns)
            wait("the evaluations", 600, lambda: _all_ended(client, "evaluate", len(saved)), pause=1)
            until = time.monotonic() + 70
            while time.monotonic() < until and not _all_ended(client, "stock_job", len(saved)):
                time.sleep(1)
            ours, stock = [], []
            for run in client.runs(job="evaluate"):
                at = saved[int(run["tags"]["factory/step"])]
                first = first_items(ns, run["runId"])
                ours.append(
                    {
                        "step": int(run["tags"]["factory/step"]),
                        "requested": round(run["creationTime"] - at, 1),
                        "started": round(run["startTime"] - at, 1),
                        "first_items": None if first is None else round(first - at, 1),
                    }
                )
            for run in client.runs(job="stock_job"):
                at = saved[int(run["tags"]["step"])]
                began = run["startTime"]
                stock.append(
                    {
                        "step": int(run["tags"]["step"]),
                        "requested": round(run["creationTime"] - at, 1),
                        "started": None if began is None else round(began - at, 1),
                    }
                )
        finally:
            services.stop()
    report = {
        "benchmark": "evaluation_latency",
        **describe(),
        "recipe": given.recipe,
        "checkpoints": len(saved),
        "ours": {
            "evaluated": len(ours),
            "p50_requested": middle(ours, "requested"),
            "p50_started": middle(ours, "started"),
            "p50_first_items": middle(ours, "first_items"),
            "runs": sorted(ours, key=lambda row: row["step"]),
        },
        "stock": {
            "evaluated": len(stock),
            "p50_requested": middle(stock, "requested"),
            "p50_started": middle(stock, "started"),
            "runs": sorted(stock, key=lambda row: row["step"]),
        },
    }
    requested = report["ours"]["p50_requested"], report["stock"]["p50_requested"]
    report["ratio_requested"] = round(requested[0] / requested[1], 2) if all(requested) else None
    print(json.dumps(report, indent=2))


def _all_ended(client: Client, job: str, count: int) -> bool:
    found = client.runs(job=job)
    return len(found) >= count and all(run["status"] in ENDED for run in found)


if __name__ == "__main__":
    main()
