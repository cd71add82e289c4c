"""Builder of `suite`: the rows that are scored, and how."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq

from aifactory.build.inputs import Work
from aifactory.build.made import Made
from aifactory.build.progress import counted
from aifactory.data.shards import read_batches, write_shards
from aifactory.datasets.columns import need, scored
from aifactory.datasets.schema import columns_of

SCORER = "scorer.json"


def build(work: Work, staging: Path) -> Made:
    """`test/rows-00000.parquet`, ... with the columns of the stage, and `scorer.json`."""
    opened, scorer = work.inputs["stage"], work.parameters["scorer"]
    paths = [path for path in opened.snapshot.paths(opened.part) if path.suffix == ".parquet"]
    schema = pq.read_schema(paths[0])
    need(work.build.key, scored(scorer), schema.names)
    made = Made(columns=columns_of(schema), metadata={"scorer": scorer})
    batches = counted(work.job, read_batches(paths), f"building {work.build.key}")
    made.add(staging, write_shards(batches, staging / "test", schema), "test")
    (staging / SCORER).write_text(json.dumps(scorer, sort_keys=True, indent=2) + "\n")
    return made
