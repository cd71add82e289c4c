"""A new run that goes on from a checkpoint of another one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from aifactory.channel import CheckpointSaved, Note
from aifactory.errors import FactoryError
from aifactory.spec import Context, InputRef
from aifactory.spec.fit import RESUME
from aifactory.train import execute
from aifactory.train.checkpoint import open_checkpoint
from aifactory.train.metrics import read_metrics
from tests.train.lab import Lab, messages, tiny, train_job

pytest.importorskip("torch", reason="torch is not installed here")
LINE = "public/models/codes"


def losses(path: Path) -> list[tuple[int, float]]:
    return [(made.step, made.loss) for made in read_metrics(path / "metrics.jsonl")]


def test_it_trains_on_as_if_it_had_never_stopped_and_further_if_it_is_to(lab: Lab) -> None:
    first = train_job(lab, tiny(steps=8, checkpointing__every=4, checkpointing__count=None), "gone")
    execute(first)
    saved = [m.payload for m in messages(first) if isinstance(m.payload, CheckpointSaved)]
    assert [one.step for one in saved] == [4, 8]

    job = train_job(lab, first.spec.train, "going-on")
    ref = InputRef(role=RESUME, kind="checkpoint", key=LINE, version=saved[0].digest)
    job = replace(
        job,
        spec=job.spec.evolve({"inputs": (*job.spec.inputs, ref)}),
        context=Context(places={RESUME: saved[0].path}),
    )
    execute(job)
    assert losses(job.attempt_directory) == losses(first.attempt_directory)[4:]
    assert [m.payload.text for m in messages(job) if isinstance(m.payload, Note)][-1].startswith("goes on from step 4")
    ours, theirs = (open_checkpoint(one.directory / "checkpoints" / "step-00000008") for one in (job, first))
    assert ours.content["files"] == theirs.content["files"]  # weights, optimizer, generators, position: byte for byte
    assert ours.content["spec"] == job.spec.hash != theirs.content["spec"]


def test_a_spec_goes_on_from_one_checkpoint_and_starts_from_nothing_else(lab: Lab) -> None:
    plain = train_job(lab, tiny(), "unused").spec
    resumed = InputRef(role=RESUME, kind="checkpoint", key=LINE, version="1" * 64)
    assert plain.evolve({"inputs": (*plain.inputs, resumed)}).inputs_of("checkpoint") == (resumed,)
    for config, more in (
        (plain.train.evolve({"start": LINE}), (resumed,)),
        (plain.train, (resumed.evolve({"kind": "model"}),)),
        (plain.train, (resumed, resumed.evolve({"role": "start", "version": "2" * 64}))),
    ):
        with pytest.raises(FactoryError) as caught:
            plain.evolve({"config": config, "inputs": (*plain.inputs, *more)})
        assert caught.value.code == "config"
