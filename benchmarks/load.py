"""How long our definitions take to load, beside bare Dagster assets of the same graph spread over as many files.

1,000 datasets of 4 stages, each with 2 checks of its own beside those that every stage gets. Both sides are loaded to a
repository, as a code server does it, in processes of their own that alternate. Prints one JSON document.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from machine import describe

CHECKOUT = Path(__file__).resolve().parents[1]
HEAVY = ("torch", "ray", "kubernetes", "megatron")

OURS = '''"""Dataset {n}."""

from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa
from aifactory.datasets import dataset, no_nulls, unique


@dataclass(frozen=True)
class Row:
    id: str
    text: str


@dataset(checks=[unique("id"), no_nulls("text")])
def raw() -> Iterator[Row]:
    """Rows as they come."""
    yield Row("{n}", "text")


@dataset(checks=[unique("id"), no_nulls("text")])
def clean(raw: pa.Table) -> Iterator[Row]:
    """Rows in normal form."""
    for row in raw.to_pylist():
        yield Row(row["id"], row["text"].strip())


@dataset(checks=[unique("id"), no_nulls("text")])
def linked(clean: pa.Table, raw: pa.Table) -> Iterator[Row]:
    """Rows beside what they were."""
    for row, before in zip(clean.to_pylist(), raw.to_pylist(), strict=True):
        yield Row(row["id"], row["text"] + before["text"])


@dataset(checks=[unique("id"), no_nulls("text")])
def ready(linked: pa.Table) -> Iterator[Row]:
    """Rows to train on."""
    for row in linked.to_pylist():
        yield Row(row["id"], row["text"])
'''

BARE_HEAD = '''"""Dataset {n}."""

import dagster as dg
'''
BARE_ASSET = """

@dg.asset(
    key={key},
    deps={deps},
    check_specs=[
{checks}
    ],
    group_name="{group}",
    kinds={{"table"}},
    tags={{"class": "public"}},
    code_version="{version}",
    automation_condition=dg.AutomationCondition.eager(),
    description="{description}",
)
def {name}(context: dg.AssetExecutionContext) -> dg.MaterializeResult:
    return dg.MaterializeResult(metadata={{"rows": 1}}, check_results=[dg.AssetCheckResult(passed=True)])
"""
BARE_DEFS = """import dagster as dg
import datasets

defs = dg.Definitions(assets=dg.load_assets_from_package_module(datasets), executor=dg.in_process_executor)
"""

LOAD = """import sys, time
began = time.perf_counter()
from {module} import defs
repository = defs.get_repository_def()
seconds = time.perf_counter() - began
import json, resource
print(json.dumps({{
    "seconds": seconds,
    "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    "heavy": [name for name in {heavy!r} if name in sys.modules],
}}))
"""


def write_ours(root: Path, count: int) -> None:
    """A project of `count` datasets; recipes and the rest of the checkout's own work are not in it."""
    (root / "assets" / "public").mkdir(parents=True)
    for n in range(count):
        (root / "assets" / "public" / f"d{n:04}.py").write_text(OURS.replace("{n}", str(n)))


def write_bare(root: Path, graph: dict[str, dict[str, list[str]]]) -> None:
    """The same graph as plain Dagster assets: a file for each of ours, and what a person would write beside it."""
    package = root / "datasets"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (root / "bare_definitions.py").write_text(BARE_DEFS)
    files: dict[str, list[str]] = {}
    for key, node in graph.items():
        *_, dataset, name = key.split("/")
        checks = [
            f'        dg.AssetCheckSpec("{check}", asset={key.split("/")}, blocking=True),' for check in node["checks"]
        ]
        files.setdefault(dataset, [BARE_HEAD.replace("{n}", dataset)]).append(
            BARE_ASSET.format(
                key=key.split("/"),
                deps=f"[{', '.join(f'dg.AssetKey({dep.split("/")})' for dep in node['deps'])}]",
                checks="\n".join(checks),
                group=dataset,
                version="0" * 16,
                description="Rows as they come.",
                name=name,
            )
        )
    for dataset, parts in files.items():
        (package / f"{dataset}.py").write_text("".join(parts))


def graph_of(root: Path) -> dict[str, dict[str, list[str]]]:
    """Keys, inputs and checks of our project, asked in a process of its own."""
    script = (
        "import json; from aifactory.datasets import find_stages; from aifactory.project import Project\n"
        "print(json.dumps({key: {'deps': sorted({edge.key for edge in stage.edges}), "
        "'checks': [check.name for check in stage.checks]} for key, stage in find_stages(Project.current()).items()}))"
    )
    done = subprocess.run([sys.executable, "-c", script], env=ours(root), capture_output=True, text=True, check=True)
    return dict(json.loads(done.stdout))


def ours(root: Path) -> dict[str, str]:
    """The environment of our side."""
    project = {"AIFACTORY_PROJECT": str(root), "AIFACTORY_STATE": str(root / "state")}
    return os.environ | project | {"PYTHONPATH": f"{CHECKOUT / 'src'}:{CHECKOUT}"}


def load(module: str, environment: dict[str, str], cwd: Path) -> dict[str, object]:
    """One load: seconds inside the process, and of the whole process."""
    began = time.perf_counter()
    script = LOAD.format(module=module, heavy=HEAVY)
    done = subprocess.run([sys.executable, "-c", script], env=environment, cwd=cwd, capture_output=True, text=True)
    whole = time.perf_counter() - began
    if done.returncode:
        raise SystemExit(done.stderr)
    return {**json.loads(done.stdout), "process_seconds": whole}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--datasets", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        lab, bare = Path(folder, "lab"), Path(folder, "bare")
        write_ours(lab, given.datasets)
        graph = graph_of(lab)
        write_bare(bare, graph)
        sides = {
            "ours": lambda: load("definitions", ours(lab), CHECKOUT),
            "bare": lambda: load("bare_definitions", os.environ | {"PYTHONPATH": str(bare)}, bare),
        }
        runs: dict[str, list[dict[str, object]]] = {name: [] for name in sides}
        for number in range(given.rounds + 1):
            for name in sorted(sides, reverse=number % 2 == 0):
                made = sides[name]()
                if number:  # the first of each writes byte code
                    runs[name].append(made)
    best = {name: min(float(str(run["seconds"])) for run in made) for name, made in runs.items()}
    middle = {name: statistics.median(float(str(run["seconds"])) for run in made) for name, made in runs.items()}
    report = {
        "benchmark": "load",
        **describe(),
        "datasets": given.datasets,
        "assets": len(graph),
        "checks": sum(len(node["checks"]) for node in graph.values()),
        "rounds": given.rounds,
        **{
            name: {
                "median_seconds": round(middle[name], 2),
                "best_seconds": round(best[name], 2),
                "megabytes": round(float(str(made[0]["megabytes"]))),
                "imported_heavy": made[0]["heavy"],
            }
            for name, made in runs.items()
        },
        "ratio_of_medians": round(middle["ours"] / middle["bare"], 3),
        "ratio_of_best": round(best["ours"] / best["bare"], 3),
    }
    print(json.dumps(report, indent=2))


if __name__ == "__main__":
    main()
