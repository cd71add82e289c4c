"""Builder of `split`: one folder of Parquet shards per part, streamed."""

from __future__ import annotations

from pathlib import Path

import pyarrow.compute as pc
import pyarrow.parquet as pq

from aifactory.build.inputs import Work
from aifactory.build.made import Made
from aifactory.build.progress import counted
from aifactory.data.shards import ShardWriter, read_batches
from aifactory.data.split import PARTS, parts_of
from aifactory.datasets.columns import need
from aifactory.datasets.schema import columns_of


def build(work: Work, staging: Path) -> Made:
    """Memory holds a batch and what each part's writer collects for its next row group."""
    parameters, opened = work.parameters, work.inputs["stage"]
    shares = {part: float(parameters[part]) for part in PARTS}
    paths = [path for path in opened.snapshot.paths(opened.part) if path.suffix == ".parquet"]
    schema = pq.read_schema(paths[0])
    need(work.build.key, [parameters["by"]], schema.names)
    writers = {part: ShardWriter(staging / part, schema) for part in PARTS if shares[part] > 0}
    total = opened.snapshot.manifest.rows
    for batch in counted(work.job, read_batches(paths), f"splitting {work.build.key}", total=total):
        parts = parts_of(batch.column(parameters["by"]), shares, parameters["seed"]).dictionary_decode()
        for part, writer in writers.items():
            rows = batch.filter(pc.equal(parts, part))
            if rows.num_rows:
                writer.write(rows)
    made = Made(columns=columns_of(schema))
    for part, writer in writers.items():
        made.add(staging, writer.finish(), part)
    return made
