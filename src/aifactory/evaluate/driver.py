"""Loads a checkpoint into one process and scores it on every suite of the spec."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from aifactory.channel import Progress, Scored
from aifactory.channel.job import Job
from aifactory.data.bpe import BPE
from aifactory.errors import FactoryError
from aifactory.evaluate.scoring import Result, Scores, score
from aifactory.evaluate.suite import Suite, read_suite
from aifactory.namespace import Namespace
from aifactory.spec import GPT, InputRef, RunSpec
from aifactory.train.checkpoint import Checkpoint, open_input

CONFIG = "model.json"


def evaluate(job: Job) -> None:
    """Score as `aifactory.evaluate.execute` says."""
    config = job.spec.evaluate
    checkpoint = _checkpoint(job)
    described = json.loads(checkpoint.file(CONFIG).read_bytes())
    # Read before torch is imported: what is wrong with an input is said at once.
    suites = [read_suite(job.namespace, ref) for ref in job.spec.inputs_of("suite")]
    bpe = _tokenizer(job.namespace, job.spec, described, checkpoint)
    job.writer.send(Progress(text=f"loads step {checkpoint.step}", done=0, unit="items"))
    with _loaded(checkpoint, described, threads=config.threads, batch=config.batch) as model:
        found = [_score(job, suite, bpe, model) for suite in suites]
    summary = {"spec": job.spec.hash, "checkpoint": checkpoint.digest, "step": checkpoint.step, "suites": found}
    _replace(job.directory / "results.json", (json.dumps(summary, indent=2, sort_keys=True) + "\n").encode())


def _score(job: Job, suite: Suite, bpe: BPE, model: Scores) -> dict[str, Any]:
    def done(items: int, total: int) -> None:
        job.check_stop()
        job.writer.send(Progress(text=f"{suite.name}: {items} of {total} items", done=items, total=total, unit="items"))

    result = score(suite, bpe, model, job.spec.evaluate.seed, done)
    _write_rows(job.directory / "results" / suite.file_name, result.rows)
    scored = _scored(suite, result)
    job.writer.send(scored)
    return {**scored.model_dump(mode="json"), "rows": f"results/{suite.file_name}"}


def _checkpoint(job: Job) -> Checkpoint:
    """The verified checkpoint, where the context places it; a promoted one is a snapshot of its line."""
    (ref,) = (*job.spec.inputs_of("model"), *job.spec.inputs_of("checkpoint"))
    return open_input(job.namespace, ref, job.context.places)


def _tokenizer(namespace: Namespace, spec: RunSpec, described: dict[str, Any], checkpoint: Checkpoint) -> BPE:
    """The tokenizer that the model was trained with; one that the spec names must be that one."""
    trained = InputRef.model_validate(described["tokenizer"])
    for ref in spec.inputs_of("tokenizer"):
        if ref.version != trained.version:
            raise FactoryError(
                f"{checkpoint.path} was trained with another tokenizer",
                found=ref.name,
                expected=trained.name,
                fix="evaluate it with the tokenizer that it was trained with",
                code="tokenizer",
            )
    snapshot = namespace.resolve(trained.key, trained.version)
    snapshot.verify()
    return BPE.load(snapshot.path)


@contextmanager
def _loaded(checkpoint: Checkpoint, described: dict[str, Any], *, threads: int, batch: int) -> Iterator[Scores]:
    from aifactory.train import device as devices

    with devices.session(threads) as device:
        from aifactory.evaluate.likelihood import Likelihood
        from aifactory.train import model, state

        gpt, precision = GPT.model_validate(described["gpt"]), str(described["precision"])
        model.start_megatron(0)
        loaded = model.build(gpt, gpt.vocabulary or 0, precision, device)
        state.load_weights(loaded, checkpoint)
        yield Likelihood(loaded, device, gpt.context, batch)


def _scored(suite: Suite, result: Result) -> Scored:
    return Scored(
        suite=suite.name,
        key=suite.key,
        scorer=suite.scorer.kind,
        metric=result.metric,
        value=result.interval.value,
        low=result.interval.low,
        high=result.interval.high,
        items=result.items,
        extra=result.extra,
    )


def _write_rows(path: Path, rows: list[dict[str, Any]]) -> None:
    path.parent.mkdir(exist_ok=True)
    beside = path.with_name(f".{path.name}")
    pq.write_table(pa.Table.from_pylist(rows), beside, compression="zstd")
    beside.replace(path)


def _replace(path: Path, data: bytes) -> None:
    beside = path.with_name(f".{path.name}")
    beside.write_bytes(data)
    beside.replace(path)
