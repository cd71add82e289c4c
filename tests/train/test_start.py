"""A training that begins with the weights of a promoted model."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from aifactory.channel import CheckpointSaved, Note
from aifactory.errors import FactoryError
from aifactory.launch.checkpoints.promote import promote
from aifactory.spec import Context, InputRef, RunSpec, Train
from aifactory.train import execute
from aifactory.train.checkpoint import open_checkpoint
from aifactory.train.metrics import read_metrics
from tests.train.lab import Lab, messages, tiny, train_job

pytest.importorskip("torch", reason="torch is not installed here")
LINE = "public/models/codes"


def losses(path: Path) -> list[float]:
    return [made.loss for made in read_metrics(path / "metrics.jsonl")]


def test_a_training_begins_with_the_promoted_weights_and_a_fresh_optimizer(lab: Lab) -> None:
    first = train_job(lab, tiny(checkpointing__count=1), "promoted")
    execute(first)
    (saved,) = [m.payload for m in messages(first) if isinstance(m.payload, CheckpointSaved)]
    (first.directory / "spec.json").write_bytes(first.spec.to_bytes())
    (first.directory / "context.json").write_bytes(Context(line=LINE).to_bytes())
    model = promote(saved.path, ns=lab.namespace, writer="test").snapshot

    job = train_job(lab, tiny(steps=1, schedule__warmup=0, checkpointing__count=1), "started")
    config = job.spec.train.evolve({"start": LINE})
    start = InputRef(role="start", kind="model", key=LINE, version=model.version)
    job = replace(job, spec=job.spec.evolve({"config": config, "inputs": (*job.spec.inputs, start)}))
    execute(job)
    (loss,) = losses(job.attempt_directory)
    before = losses(first.attempt_directory)
    # The batch is the first one again: what was learned since is what differs.
    assert loss < before[-1] < before[0]
    said = [m.payload.text for m in messages(job) if isinstance(m.payload, Note)]
    assert f"begins with the weights of {start.name}, step 20" in said
    made = open_checkpoint(job.directory / "checkpoints" / "step-00000001")
    assert made.content["spec"] == job.spec.hash


def test_a_spec_names_the_weights_that_its_config_names(lab: Lab) -> None:
    plain = train_job(lab, tiny(), "unused").spec
    assert "start" not in plain.train.document()  # specs from before there was such a field keep their hashes
    start = InputRef(role="start", kind="model", key=LINE, version="1" * 64)
    for config, inputs in (
        (plain.train.evolve({"start": LINE}), plain.inputs),
        (plain.train, (*plain.inputs, start)),
        (plain.train.evolve({"start": "public/models/other"}), (*plain.inputs, start)),
    ):
        with pytest.raises(FactoryError) as caught:
            plain.evolve({"config": config, "inputs": inputs})
        assert caught.value.code == "config"
    good: RunSpec = plain.evolve({"config": plain.train.evolve({"start": LINE}), "inputs": (*plain.inputs, start)})
    assert RunSpec.load(good.to_bytes()).train.start == LINE


def test_weights_come_from_a_line() -> None:
    with pytest.raises(FactoryError) as caught:
        Train.model_validate({**tiny().document(), "start": "public/codes/ready"})
    assert caught.value.code == "config"
