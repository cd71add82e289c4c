from __future__ import annotations

import json
import math
import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from aifactory.channel import Cancelled, CheckpointSaved, Job, Note
from aifactory.errors import FactoryError
from aifactory.spec import Train
from aifactory.train import execute
from aifactory.train.checkpoint import open_checkpoint
from aifactory.train.metrics import StepMetrics, read_metrics
from tests.train.lab import Lab, messages, tiny, train_job

pytest.importorskip("torch", reason="torch is not installed here")
GOLDEN = Path(__file__).parents[1] / "golden" / "losses.json"


def train(lab: Lab, config: Train, run: str, attempt: int = 1) -> tuple[Job, list[StepMetrics]]:
    job = train_job(lab, config, run, attempt)
    execute(job)
    return job, list(read_metrics(job.attempt_directory / "metrics.jsonl"))


def learned(metrics: list[StepMetrics]) -> list[tuple[int, float, float, float, int, float]]:
    """What does not depend on the clock."""
    return [(m.step, m.loss, m.grad_norm, m.learning_rate, m.tokens, m.epoch) for m in metrics]


def saved(job: Job) -> list[CheckpointSaved]:
    return [m.payload for m in messages(job) if isinstance(m.payload, CheckpointSaved)]


@pytest.fixture(scope="module")
def plain(lab: Lab) -> tuple[Job, list[StepMetrics]]:
    """The 20 steps that other tests compare with."""
    return train(lab, tiny(), "plain")


def test_losses_are_those_of_the_golden_file(plain: tuple[Job, list[StepMetrics]]) -> None:
    losses = [m.loss for m in plain[1]]
    if os.environ.get("AIFACTORY_WRITE_GOLDEN"):
        GOLDEN.write_text(json.dumps([round(loss, 7) for loss in losses]) + "\n")
    assert losses == pytest.approx(json.loads(GOLDEN.read_text()), rel=1e-4)


def test_the_same_spec_gives_the_same_bytes_twice(lab: Lab, plain: tuple[Job, list[StepMetrics]]) -> None:
    job, metrics = train(lab, tiny(), "again")
    assert learned(metrics) == learned(plain[1])
    assert [c.digest for c in saved(job)] == [c.digest for c in saved(plain[0])]


def test_checkpoints_are_told_with_their_figures_and_stand_on_disk(plain: tuple[Job, list[StepMetrics]]) -> None:
    job, metrics = plain
    told = saved(job)
    assert [one.step for one in told] == [10, 20]
    for one in told:
        found = open_checkpoint(job.namespace.local(one.path), one.digest)
        assert found.content["spec"] == job.spec.hash
        assert one.loss == metrics[one.step - 1].loss
        assert one.tokens == metrics[one.step - 1].tokens
    assert told[-1].loss < told[-1].metrics["unigram_loss"] < metrics[0].loss
    assert metrics[0].loss == pytest.approx(math.log(320), rel=0.02)


def test_a_cut_training_goes_on_as_if_it_had_not_been_cut(lab: Lab) -> None:
    config = tiny(steps=12, checkpointing__count=12)
    whole, metrics = train(lab, config, "whole")
    for cut in (1, 6, 11):
        run = lab.root / "public" / "runs" / f"cut-{cut}"
        shutil.copytree(whole.directory / "checkpoints" / f"step-{cut:08d}", run / "checkpoints" / f"step-{cut:08d}")
        job, rest = train(lab, config, run.name, attempt=2)
        assert learned(rest) == learned(metrics[cut:])
        assert [c.digest for c in saved(job)] == [c.digest for c in saved(whole)[cut:]]


def test_a_stop_saves_the_step_that_it_meets_and_the_next_attempt_goes_on(
    lab: Lab, plain: tuple[Job, list[StepMetrics]]
) -> None:
    first = train_job(lab, tiny(), "stopped")
    checks = 0

    class Stop:
        def is_set(self) -> bool:
            nonlocal checks
            checks += 1
            return checks > 13

    with pytest.raises(Cancelled):
        execute(replace(first, stop=Stop()))  # type: ignore[arg-type]
    assert len(list(read_metrics(first.attempt_directory / "metrics.jsonl"))) == 14
    assert [one.step for one in saved(first)] == [10, 14]
    second, rest = train(lab, tiny(), "stopped", attempt=2)
    assert learned(rest) == learned(plain[1][14:])
    assert [c.digest for c in saved(second)] == [c.digest for c in saved(plain[0])[1:]]
    assert any(isinstance(m.payload, Note) and "step 14 of 20" in m.payload.text for m in messages(second))


def test_a_finished_run_trains_nothing_again(lab: Lab, plain: tuple[Job, list[StepMetrics]]) -> None:
    job = train_job(lab, tiny(), "plain")
    before = (job.attempt_directory / "metrics.jsonl").read_bytes()
    execute(job)
    assert (job.attempt_directory / "metrics.jsonl").read_bytes() == before


def test_a_loss_that_is_no_number_stops_with_its_step_and_the_last_good_checkpoint(lab: Lab) -> None:
    config = tiny(optimizer__learning_rate=1e30, optimizer__clip=0.0, schedule__warmup=0, checkpointing__count=20)
    job = train_job(lab, config, "nan")
    with pytest.raises(FactoryError) as caught:
        execute(job)
    assert caught.value.code == "nan"
    last = saved(job)[-1]
    assert f"step {last.step + 1} is not finite" in caught.value.what
    assert last.path in caught.value.what


def test_micro_batches_change_nothing_but_rounding(lab: Lab, plain: tuple[Job, list[StepMetrics]]) -> None:
    _, metrics = train(lab, tiny(batch__micro=2), "micro")
    assert [m.loss for m in metrics] == pytest.approx([m.loss for m in plain[1]], rel=1e-5)


def test_bf16_learns_nearly_the_same(lab: Lab, plain: tuple[Job, list[StepMetrics]]) -> None:
    config = tiny(precision="bf16")
    job, metrics = train(lab, config, "bf16")
    assert [m.loss for m in metrics] == pytest.approx([m.loss for m in plain[1]], rel=0.03)
    # Its fp32 weights are part of the state: a resume has them.
    cut = lab.root / "public" / "runs" / "bf16-cut"
    shutil.copytree(job.directory / "checkpoints" / "step-00000010", cut / "checkpoints" / "step-00000010")
    _, rest = train(lab, config, cut.name, attempt=2)
    assert learned(rest) == learned(metrics[10:])


def test_a_flipped_byte_in_the_data_is_refused_before_the_first_step(lab: Lab, tmp_path: Path) -> None:
    root = tmp_path / "namespace"
    shutil.copytree(lab.root, root, symlinks=True)
    other = replace(lab, root=root)
    file = other.namespace.resolve(lab.tokens.key, lab.tokens.version).path / "train" / "tokens-00000.bin"
    data = bytearray(file.read_bytes())
    data[100] ^= 1
    file.chmod(0o644)
    file.write_bytes(data)
    with pytest.raises(FactoryError) as caught:
        execute(train_job(other, tiny(), "flipped"))
    assert caught.value.code == "integrity"
    assert file.name in str(caught.value)
