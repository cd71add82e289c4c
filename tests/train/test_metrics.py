from __future__ import annotations

from pathlib import Path

from aifactory.train.metrics import MetricsFile, StepMetrics, read_metrics

ONE = StepMetrics(1, 4.5, 1.2, 3e-3, 2048, 2000, 10_000.0, 0.2, 0.01)


def test_each_step_is_there_before_the_next_one_is_taken(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    with MetricsFile(path) as metrics:
        metrics.write(ONE)
        assert list(read_metrics(path)) == [ONE]


def test_a_line_cut_short_by_a_kill_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    with MetricsFile(path) as metrics:
        metrics.write(ONE)
    with path.open("a") as file:
        file.write('{"step": 2, "lo')
    assert list(read_metrics(path)) == [ONE]
