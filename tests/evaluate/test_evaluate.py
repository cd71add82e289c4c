from __future__ import annotations

import json
import shutil
import threading
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from aifactory.channel import Cancelled, CheckpointSaved, Job, Progress, Scored
from aifactory.errors import FactoryError
from aifactory.evaluate import execute
from aifactory.spec import InputRef
from tests.train.lab import Lab, evaluate_job, messages

pytest.importorskip("torch", reason="torch is not installed here")


@pytest.fixture(scope="session")
def scored(lab: Lab, checkpoint: CheckpointSaved) -> Job:
    """The checkpoint, scored on both suites."""
    job = evaluate_job(lab, lab.namespace.local(checkpoint.path), checkpoint.digest, "evaluated")
    execute(job)
    return job


def test_each_suite_is_told_with_its_interval_and_baselines(scored: Job) -> None:
    told = {m.payload.suite: m.payload for m in messages(scored) if isinstance(m.payload, Scored)}
    assert sorted(told) == ["chapters", "heldout"]
    chapters = told["chapters"]
    assert (chapters.key, chapters.scorer, chapters.metric) == ("public/codes/chapters", "multiple_choice", "accuracy")
    assert chapters.items == 100
    # It has learned what decides the chapter.
    assert chapters.low > chapters.extra["majority"] > chapters.extra["uniform"] == 0.25
    assert 0 < told["heldout"].low < told["heldout"].value < told["heldout"].high < 1.0


def test_progress_counts_items(scored: Job) -> None:
    told = [m.payload for m in messages(scored) if isinstance(m.payload, Progress)]
    assert told[0].unit == "items"
    assert any((one.done, one.total) == (100, 100) for one in told)


def test_every_item_is_a_row_of_the_run_directory(scored: Job) -> None:
    rows = pq.read_table(scored.directory / "results" / "public__codes__chapters.parquet").to_pylist()
    summary = json.loads((scored.directory / "results.json").read_bytes())
    chapters = next(one for one in summary["suites"] if one["suite"] == "chapters")
    assert len(rows) == chapters["items"]
    assert sum(row["correct"] for row in rows) / len(rows) == pytest.approx(chapters["value"])
    assert all(row["correct"] == (row["prediction"] == row["answer"]) for row in rows)
    assert all(len(row["choices"]) == len(row["scores"]) == 4 for row in rows)
    assert (scored.directory / chapters["rows"]).is_file()
    assert not list((scored.directory / "results").glob(".*"))


def test_the_same_evaluation_gives_the_same_results(lab: Lab, checkpoint: CheckpointSaved, scored: Job) -> None:
    again = evaluate_job(lab, lab.namespace.local(checkpoint.path), checkpoint.digest, "evaluated-again")
    execute(again)
    for name in ("results.json", "results/public__codes__heldout.parquet", "results/public__codes__chapters.parquet"):
        assert (again.directory / name).read_bytes() == (scored.directory / name).read_bytes()


def test_a_flipped_byte_in_the_checkpoint_is_refused(lab: Lab, checkpoint: CheckpointSaved) -> None:
    whole = lab.namespace.local(checkpoint.path)
    copy = whole.parents[2] / "copied" / "checkpoints" / whole.name
    shutil.copytree(whole, copy)
    file = copy / "model-00000.safetensors"
    data = bytearray(file.read_bytes())
    data[-1] ^= 1
    file.chmod(0o644)
    file.write_bytes(data)
    with pytest.raises(FactoryError) as caught:
        execute(evaluate_job(lab, copy, checkpoint.digest, "damaged"))
    assert caught.value.code == "integrity"
    assert str(file) in str(caught.value)


def test_another_checkpoint_than_the_spec_names_is_refused(lab: Lab, checkpoint: CheckpointSaved) -> None:
    with pytest.raises(FactoryError) as caught:
        execute(evaluate_job(lab, lab.namespace.local(checkpoint.path), "0" * 64, "other"))
    assert (caught.value.found, caught.value.expected) == (checkpoint.digest, "0" * 64)


def test_a_place_that_the_context_lacks_is_named(lab: Lab, checkpoint: CheckpointSaved) -> None:
    job = evaluate_job(lab, lab.namespace.local(checkpoint.path), checkpoint.digest, "nowhere")
    with pytest.raises(FactoryError) as caught:
        execute(replace(job, context=job.context.evolve({"places": {}})))
    assert caught.value.code == "checkpoint"


def test_a_tokenizer_that_is_not_the_models_is_refused(lab: Lab, checkpoint: CheckpointSaved) -> None:
    job = evaluate_job(lab, lab.namespace.local(checkpoint.path), checkpoint.digest, "tokenizer")
    other = InputRef(role="tokenizer", kind="tokenizer", key=lab.tokenizer.key, version="1" * 64)
    spec = job.spec.evolve({"inputs": (*job.spec.inputs, other)})
    with pytest.raises(FactoryError) as caught:
        execute(replace(job, spec=spec))
    assert caught.value.code == "tokenizer"
    assert lab.tokenizer.version[:16] in str(caught.value)


def test_a_stop_is_honoured_between_items(lab: Lab, checkpoint: CheckpointSaved) -> None:
    job = evaluate_job(lab, lab.namespace.local(checkpoint.path), checkpoint.digest, "stopped")
    stop = threading.Event()
    stop.set()
    with pytest.raises(Cancelled):
        execute(replace(job, stop=stop))
    assert not (job.directory / "results.json").exists()


def test_what_is_wrong_is_said_before_anything_heavy_is_imported(tmp_path: Path) -> None:
    import subprocess
    import sys

    program = (
        "import sys, aifactory.train, aifactory.evaluate, aifactory.evaluate.driver, aifactory.train.driver\n"
        "print(sorted({'torch', 'ray', 'megatron'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert done.stdout.strip() == "[]"
