"""What the smoke calls bit for bit alike, and what it does not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from aifactory.errors import FactoryError
from aifactory.smoke.compare import losses, same
from aifactory.train.checkpoint import Checkpoints

SPEC = "a" * 64


def trained(
    root: Path, name: str, *, steps: int = 4, weights: str = "weights", losses: dict[int, float] | None = None
) -> Path:
    """A run of `steps` steps with a checkpoint at every second one, as a training leaves it."""
    run = root / "public" / "runs" / name
    attempt = run / "attempts" / "00000001"
    attempt.mkdir(parents=True)
    kept = Checkpoints(run, 1, SPEC)
    rows = []
    for step in range(1, steps + 1):
        loss = (losses or {}).get(step, 1.0 / step)
        rows.append({"step": step, "loss": loss, "seconds": float(len(name)), "tokens_per_second": 1.0})
        if step % 2 == 0:
            text = f"{weights} of step {step}"
            kept.save(step, {"model.bin": lambda path, text=text: path.write_text(text)}, {"loss": loss})
    (attempt / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return run


def test_two_runs_that_differ_in_their_speed_alone_are_alike(tmp_path: Path) -> None:
    found = same(trained(tmp_path, "one"), trained(tmp_path, "other"), 4)
    assert (found["steps"], found["loss"], list(found["checkpoints"])) == (4, 0.25, ["2", "4"])


@pytest.mark.parametrize(
    ("other", "named"),
    [
        ({"weights": "weightz"}, "the checkpoint of step 2"),
        ({"losses": {4: 0.25000000000000006}}, "the checkpoint of step 4"),
        ({"losses": {3: 0.33333333333333337}}, "loss of step 3"),
        ({"steps": 2}, "the steps of their checkpoints"),
    ],
)
def test_one_digit_or_one_file_that_differs_is_named(tmp_path: Path, other: dict[str, object], named: str) -> None:
    one, two = trained(tmp_path, "one"), trained(tmp_path, "two", **other)  # type: ignore[arg-type]
    with pytest.raises(FactoryError, match=named) as caught:
        same(one, two, 4)
    assert caught.value.code == "differs"
    assert caught.value.found != caught.value.expected


def test_an_undisturbed_run_that_misses_a_step_compares_with_nothing(tmp_path: Path) -> None:
    one, two = trained(tmp_path, "one"), trained(tmp_path, "two")
    file = one / "attempts" / "00000001" / "metrics.jsonl"
    file.write_text("".join(file.read_text().splitlines(keepends=True)[1:]))
    with pytest.raises(FactoryError, match="the steps that were measured"):
        same(one, two, 4)


def test_a_damaged_checkpoint_is_told_by_its_file(tmp_path: Path) -> None:
    one, two = trained(tmp_path, "one"), trained(tmp_path, "two")
    file = two / "checkpoints" / "step-00000004" / "model.bin"
    file.chmod(0o644)
    file.write_text(file.read_text().upper())
    with pytest.raises(FactoryError, match=r"model\.bin is not what was saved"):
        same(one, two, 4)


def test_of_a_step_that_was_done_twice_the_later_attempt_counts_and_a_torn_line_does_not(tmp_path: Path) -> None:
    run = trained(tmp_path, "one", steps=3)
    first = run / "attempts" / "00000001" / "metrics.jsonl"
    first.write_text(first.read_text() + '{"step": 4, "lo')
    second = run / "attempts" / "00000002"
    second.mkdir()
    (second / "metrics.jsonl").write_text('{"step": 3, "loss": 7.0}\n')
    assert {step: row["loss"] for step, row in losses(run).items()} == {1: 1.0, 2: 0.5, 3: 7.0}
