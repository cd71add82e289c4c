"""Builder of `tokenizer`: a byte-level BPE trained on one column, kept as one canonical file."""

from __future__ import annotations

from pathlib import Path

from aifactory.build.inputs import Work
from aifactory.build.made import Made
from aifactory.build.progress import counted
from aifactory.data.bpe import train_bpe
from aifactory.data.shards import read_batches
from aifactory.datasets.columns import need
from aifactory.datasets.report import count


def build(work: Work, staging: Path) -> Made:
    """Texts stream through; memory holds the counts of distinct words."""
    parameters, opened = work.parameters, work.inputs["stage"]
    column = parameters["text"]
    need(work.build.key, [column], [one.name for one in opened.snapshot.manifest.columns])
    paths = [path for path in opened.snapshot.paths(opened.part) if path.suffix == ".parquet"]
    rows = sum(entry.rows or 0 for entry in opened.snapshot.files(opened.part))
    batches = counted(work.job, read_batches(paths, [column]), f"training {work.build.key}", total=rows)
    texts = (text for batch in batches for text in batch.column(0).to_pylist() if text is not None)
    bpe = train_bpe(texts, parameters["vocabulary"])
    bpe.save(staging)
    count("texts", rows)
    return Made(
        metadata={"vocabulary": bpe.vocabulary, "trained_on": f"{opened.ref.name}, {opened.part or 'all rows'}"}
    )
