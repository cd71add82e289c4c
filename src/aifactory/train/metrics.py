"""`metrics.jsonl`: one line of figures per step. No torch."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Self


@dataclass(frozen=True)
class StepMetrics:
    """Figures of one optimizer step, over all workers.

    `loss` is in nats per loss token; `tokens` counts what the model has seen up to and with this step, padding apart,
    `loss_tokens` those of them that carried loss; `seconds` is the step's wall time and `tokens_per_second` its own
    tokens over it; `epoch` is how often the data has been seen, as a fraction.
    """

    step: int
    loss: float
    grad_norm: float
    learning_rate: float
    tokens: int
    loss_tokens: int
    tokens_per_second: float
    seconds: float
    epoch: float


class MetricsFile:
    """Appends to the file at `path`; each line is handed to the system before `write` returns, so tails see it."""

    def __init__(self, path: Path):
        self._file = path.open("a", encoding="utf-8")

    def write(self, metrics: StepMetrics) -> None:
        self._file.write(json.dumps(asdict(metrics)) + "\n")
        self._file.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._file.close()


def read_metrics(path: Path) -> Iterator[StepMetrics]:
    """The lines of a metrics file, in order; a last line cut short by a kill is left out."""
    with path.open(encoding="utf-8") as file:
        for line in file:
            if line.endswith("\n"):
                yield StepMetrics(**json.loads(line))
