"""How long the gate takes where the lab is large: classes of 5,000 assets derived, then a gate over 5,000 inputs.

A graph of 1,000 datasets of 5 stages, a tenth of them of one private project and a tenth of another, each dataset
reading another one; a grant lets the second project read the first. Checking is what happens when definitions load:
every edge, under the grants. Deriving goes through the graph from its sources. The gate is asked about a run that reads
every asset, with two checks each. The peer is the standard library's walk through the same graph (graphlib), which
checks, derives and refuses nothing. Prints one JSON document; nothing is read from a disk.
"""

from __future__ import annotations

import json
import random
import statistics
import time
from collections.abc import Callable, Mapping
from graphlib import TopologicalSorter

from machine import describe

from aifactory.launch import CheckFact, Facts, InputFact, gate
from aifactory.namespace import Grant
from aifactory.namespace.access import check_graph, derive

CLINIC, ONCOLOGY = "private/clinic", "private/oncology"
GRANTS = (Grant(CLINIC, ONCOLOGY, "the benchmark's board"),)
DATASETS, STAGES, ROUNDS, GOAL_MS = 1_000, 5, 15, 100.0


def graph(seed: int = 7) -> dict[str, tuple[str, ...]]:
    """Inputs by key. Datasets read public ones, those of their own project, and what a grant lets them."""
    chance = random.Random(seed)
    found: dict[str, tuple[str, ...]] = {}
    earlier: dict[str, list[str]] = {"public": [], CLINIC: [], ONCOLOGY: []}
    reads = {"public": ["public"], CLINIC: ["public", CLINIC], ONCOLOGY: ["public", ONCOLOGY, CLINIC]}
    for number in range(DATASETS):
        access = {8: ONCOLOGY, 9: CLINIC}.get(number % 10, "public")
        readable = [key for one in reads[access] for key in earlier[one]]
        above: tuple[str, ...] = (chance.choice(readable),) if readable and number % 3 else ()
        for stage in range(STAGES):
            key = f"{access}/dataset_{number}/stage_{stage}"
            found[key] = above
            above = (key,)
        earlier[access].append(above[0])
    return found


def classes(inputs: Mapping[str, tuple[str, ...]]) -> dict[str, str]:
    """The class of every key: derived from its inputs, its own where it has none."""
    found: dict[str, str] = {}
    for key in TopologicalSorter(inputs).static_order():
        above = inputs[key]
        own = "public" if key.startswith("public/") else "/".join(key.split("/")[:2])
        found[key] = derive([own, *(found[one] for one in above)], GRANTS)
    return found


def facts(access: Mapping[str, str]) -> Facts:
    """A run that reads everything; every fiftieth check is red."""
    checks = (CheckFact("unique", True), CheckFact("rows", True))
    red = (CheckFact("unique", False, "3 twice"), CheckFact("rows", None))
    version = "a" * 64
    return Facts(
        run="train-all-1",
        kind="train",
        spec="b" * 64,
        output=f"{ONCOLOGY}/models/all",
        access=ONCOLOGY,
        grants=GRANTS,
        cluster="local",
        clusters=("local",),
        inputs=tuple(
            InputFact("mix", "dataset", key, version, one, published=True, checks=red if not number % 50 else checks)
            for number, (key, one) in enumerate(access.items())
        ),
    )


def timed(work: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> list[float]:
    """Milliseconds of each round, by the wall's clock or by another."""
    found = []
    for _ in range(ROUNDS):
        start = clock()
        work()
        found.append((clock() - start) * 1000)
    return found


def main() -> None:
    """Measure, and print the document."""
    inputs = graph()
    access = classes(inputs)
    asked = facts(access)
    refused = len(gate(asked))
    works = {
        "check": lambda: check_graph(inputs, GRANTS),
        "derivation": lambda: classes(inputs),
        "gate": lambda: gate(asked),
    }
    parts = {name: timed(work) for name, work in works.items()}
    # On a busy machine the wall's clock tells of the others' work too.
    processor = sum(statistics.median(timed(work, time.process_time)) for work in works.values())
    walked = timed(lambda: list(TopologicalSorter(inputs).static_order()))
    ours = sum(statistics.median(one) for one in parts.values())
    figures = {
        "assets": len(inputs),
        "refusals": refused,
        **{f"{name}_ms": round(statistics.median(one), 1) for name, one in parts.items()},
        "ours_ms": round(ours, 1),
        "ours_cpu_ms": round(processor, 1),
        "worst_ms": round(sum(max(one) for one in parts.values()), 1),
        "graphlib_walk_ms": round(statistics.median(walked), 1),
        "ratio": round(ours / statistics.median(walked), 2),
        "goal_ms": GOAL_MS,
        "reached": ours < GOAL_MS,
    }
    print(json.dumps({"machine": describe(), "gate": figures}, indent=2))


if __name__ == "__main__":
    main()
