"""Builder of `tokenize`: training-ready token files of every part."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from aifactory.build.inputs import Work
from aifactory.build.made import Made
from aifactory.build.progress import counted
from aifactory.data.bpe import BPE
from aifactory.data.shards import read_batches
from aifactory.data.tokens import SCHEMA, Document, write_tokens
from aifactory.datasets.columns import need
from aifactory.datasets.report import count, drop
from aifactory.datasets.schema import columns_of
from aifactory.errors import FactoryError

ABOUT = "tokens.json"


def build(work: Work, staging: Path) -> Made:
    """One batch of documents is in memory at a time."""
    opened, with_tokenizer = work.inputs["stage"], work.inputs["tokenizer"]
    bpe = BPE.load(with_tokenizer.snapshot.path)
    parts = opened.snapshot.manifest.parts
    if not parts:
        raise FactoryError(
            f"{work.build.key}: {opened.ref.key} has no parts",
            found="a stage without parts",
            expected="train, and maybe val and test",
            fix="tokenize a split of it: split(stage, by=..., train=0.9, val=0.05, test=0.05)",
            code="parts",
        )
    columns = {name: work.parameters[name] for name in ("text", "learn", "id", "group")}
    need(work.build.key, [c for c in columns.values() if c], [one.name for one in opened.snapshot.manifest.columns])
    made = Made(columns=columns_of(SCHEMA))
    numbers: dict[str, dict[str, int]] = {}
    lengths: Counter[int] = Counter()
    for part in parts:
        documents = counted(
            work.job,
            _documents(work, part, columns),
            f"tokenizing {part} of {work.build.key}",
            unit="documents",
            total=sum(entry.rows or 0 for entry in opened.snapshot.files(part)),
        )
        counts = write_tokens(documents, staging / part, bpe)
        for reason, number in counts.dropped.items():
            drop(reason, number)
        count("documents", counts.documents)
        count("tokens", counts.tokens)
        lengths += counts.lengths
        numbers[part] = {
            "documents": counts.documents,
            "tokens": counts.tokens,
            "loss_tokens": counts.loss_tokens,
            "shards": counts.shards,
        }
        for path in sorted((staging / part).iterdir()):
            rows = counts.documents if path.suffix == ".parquet" else None
            made.rows[f"{part}/{path.name}"] = (rows, part)
    about = {"vocabulary": bpe.vocabulary, "eod": bpe.eod, "tokenizer": with_tokenizer.ref.version}
    (staging / ABOUT).write_text(json.dumps(about, sort_keys=True) + "\n")
    made.metadata = {"tokens": numbers, "vocabulary": bpe.vocabulary, "eod": bpe.eod}
    return made


def _documents(work: Work, part: str, columns: dict[str, Any]) -> Iterator[Document]:
    paths = [path for path in work.inputs["stage"].snapshot.paths(part) if path.suffix == ".parquet"]
    wanted = list(dict.fromkeys(name for name in columns.values() if name))
    number = 0
    for batch in read_batches(paths, wanted):
        for row in batch.to_pylist():
            id_ = str(row[columns["id"]]) if columns["id"] else f"{part}-{number:08d}"
            text = row[columns["text"]] or ""
            answers = None
            if columns["learn"]:
                answers = _answers(work.build.key, f"row {number} of {part}", text, row[columns["learn"]] or "")
            yield Document(id_, str(row[columns["group"]]) if columns["group"] else id_, text, answers)
            number += 1


def _answers(key: str, where: str, text: str, learned: str) -> tuple[tuple[int, int], ...]:
    if not text.endswith(learned):
        raise FactoryError(
            f"{key}: the text of {where} does not end with what is to be learned of it",
            expected="a text that ends with the value of the column `learn`",
            fix="make the column text of both where the rows are made",
            code="learn",
        )
    return ((len(text) - len(learned), len(text)),) if learned else ()
