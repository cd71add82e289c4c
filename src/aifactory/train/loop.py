"""The training loop of one worker; the same code for one worker and for many, on CPUs and on GPUs.

Importing this module does not import megatron; `run` does, after the device is prepared.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from aifactory.channel import CheckpointSaved, Note, Progress, Writer
from aifactory.data.stream import IGNORED, Batch, Stream
from aifactory.data.unigram import unigram_loss
from aifactory.errors import FactoryError
from aifactory.spec.fit import RESUME
from aifactory.train import device as devices
from aifactory.train.checkpoint import Checkpoints, open_input
from aifactory.train.metrics import MetricsFile, StepMetrics
from aifactory.train.schedules import learning_rate
from aifactory.train.seat import Seat
from aifactory.train.stops import Stops

METRICS = "metrics.jsonl"


def run(seat: Seat, writer: Writer | None, stops: Stops) -> None:
    """Train to the last step, or to the one at which `stops` of any worker asks to stop, which is saved too. Rank 0 has
    a `writer`; the others say nothing and keep nothing. Leaves no process group behind.
    """
    if writer is not None:
        writer.send(Progress(text="loads torch and megatron", done=0, total=seat.config.steps, unit="steps"))
    with devices.session(seat.config.threads, local_rank=seat.local_rank) as device:
        training = _Training(seat, device, writer)
        training.resume()
        if writer is None:
            training.train(None, stops)
        else:
            with MetricsFile(seat.attempt_directory / METRICS) as metrics:
                training.train(metrics, stops)


class _Training:
    """A model in training on one worker."""

    def __init__(self, seat: Seat, device: devices.Device, writer: Writer | None):
        from aifactory.train import model, optimizer

        self.seat, self.config, self.device, self.writer = seat, seat.config, device, writer
        reads = [ref.key for ref in seat.spec.inputs]
        self.checkpoints = Checkpoints(seat.directory, seat.attempt, seat.spec.hash, reads=reads, grants=seat.grants)
        namespace = seat.namespace
        data = seat.input("dataset")
        snapshot = namespace.resolve(data.key, data.version)
        if seat.rank == 0:
            snapshot.verify()
        self.namespace = namespace
        vocabulary = self.config.model.vocabulary or 0
        model.start_megatron(self.config.seed)
        built = model.build(self.config.model, vocabulary, self.config.precision, device)
        self._begin(built)
        self.wrapped = optimizer.wrap(built)
        self.optimizer = optimizer.make_optimizer(self.wrapped, self.config.optimizer, self.config.precision)
        self.data, self.source = snapshot.path / (data.part or "train"), data.key
        self.stream = self._stream(None)
        snapshot.look()  # its files are open now: nobody put others in their place after they were verified
        self.unigram = unigram_loss(self.data, vocabulary) if writer else 0.0
        self.step = 0
        self.last_saved: Path | None = None

    def _begin(self, built: Any) -> None:
        """Fill the model with the weights that the config names, before the optimizer copies any."""
        from aifactory.train import state

        for ref in (one for kind in ("model", "checkpoint") for one in self.seat.spec.inputs_of(kind)):
            if ref.role == RESUME:
                continue
            start = open_input(self.namespace, ref, self.seat.places)
            state.load_weights(built, start)
            self._note(f"begins with the weights of {ref.name}, step {start.step}")

    def resume(self) -> None:
        """Go on from the run's newest valid checkpoint, else from that of another run that the spec names, if there is
        one; the same one on every worker."""
        from aifactory.train import state

        if self.seat.rank == 0:
            self.checkpoints.sweep()
        found = self.checkpoints.newest(self._note)
        torch.distributed.barrier()
        for ref in self.seat.spec.inputs_of("checkpoint"):
            if found is None and ref.role == RESUME:
                found = open_input(self.namespace, ref, self.seat.places)
        if found is None:
            return
        state.load_weights(self.wrapped.module, found)
        self.stream = self._stream(state.load_training(self.optimizer, found))
        self.step, self.last_saved = found.step, found.path
        self._note(f"goes on from step {found.step} of {self.config.steps} ({found.path.name})")

    def train(self, metrics: MetricsFile | None, stops: Stops) -> None:
        with stops.gently():
            self._train(metrics, stops.asked)

    def _train(self, metrics: MetricsFile | None, asked: Callable[[], bool]) -> None:
        due = set(self.config.checkpoint_steps())
        while self.step < self.config.steps:
            made, stopping = self._one_step(asked())
            if metrics is not None and self.writer is not None:
                metrics.write(made)
                text = f"step {made.step}: loss {made.loss:.4f} (unigram {self.unigram:.4f})"
                self.writer.send(Progress(text=text, done=made.step, total=self.config.steps, unit="steps"))
            if self.step in due or stopping:
                self._save(made)
            if stopping:
                return

    def _one_step(self, asked: bool) -> tuple[StepMetrics, bool]:
        """One step, and whether any worker was asked to stop: all must leave at the same one."""
        from megatron.core.pipeline_parallel import get_forward_backward_func

        from aifactory.train.optimizer import step

        began = time.perf_counter()
        number = self.step + 1
        batch = self.stream.batch(self.config.batch.sequences, rank=self.seat.rank, ranks=self.seat.world)
        micro = self.config.batch.micro or len(batch.tokens)
        starts = range(0, len(batch.tokens), micro)
        self.wrapped.zero_grad_buffer()
        self.optimizer.zero_grad()
        outputs = get_forward_backward_func()(
            forward_step_func=self._forward,
            data_iterator=iter([self._rows(batch, slice(start, start + micro)) for start in starts]),
            model=[self.wrapped],
            num_microbatches=len(starts),
            seq_length=self.config.model.context,
            micro_batch_size=micro,
            forward_only=False,
        )
        total = torch.stack([out["loss"] for out in outputs]).double().sum()
        sums = torch.stack([total, torch.full_like(total, float(asked))])
        torch.distributed.all_reduce(sums)
        loss = float(sums[0]) / max(1, batch.total.loss_tokens)
        self._refuse_unless_finite("loss", loss, number)
        rate = learning_rate(self.config.schedule, self.config.optimizer.learning_rate, number, self.config.steps)
        norm = step(self.optimizer, rate)
        self._refuse_unless_finite("gradient norm", norm, number)
        self.step = number
        seconds = time.perf_counter() - began
        made = StepMetrics(
            step=number,
            loss=loss,
            grad_norm=norm,
            learning_rate=rate,
            tokens=self.stream.seen.tokens,
            loss_tokens=self.stream.seen.loss_tokens,
            tokens_per_second=batch.total.tokens / seconds,
            seconds=seconds,
            epoch=self.stream.epochs,
        )
        return made, bool(sums[1] > 0)

    def _stream(self, state: dict[str, Any] | None) -> Stream:
        return Stream(self.data, self.config.model.context, self.config.seed, name=self.source, state=state)

    def _rows(self, batch: Batch, rows: slice) -> dict[str, Any]:
        names = ("tokens", "labels", "positions", "segments")
        return {name: torch.from_numpy(getattr(batch, name)[rows]).to(self.device.name) for name in names}

    def _forward(self, batches: Any, model: Any) -> tuple[Any, Callable[[Any], tuple[Any, Any, dict[str, Any]]]]:
        from aifactory.train.model import block_mask

        rows = next(batches)
        learned = rows["labels"] != IGNORED
        losses = model(
            input_ids=rows["tokens"],
            position_ids=rows["positions"],
            attention_mask=block_mask(rows["segments"]),
            labels=rows["labels"].where(learned, 0),
        )

        def reduced(output: Any) -> tuple[Any, Any, dict[str, Any]]:
            # A sum over tokens: megatron divides by the tokens of the whole batch, whoever held them.
            loss = (output.float() * learned).sum()
            return loss, learned.sum().int(), {"loss": loss.detach()}

        return losses, reduced

    def _save(self, made: StepMetrics) -> None:
        from aifactory.train import state

        if self.writer is not None:
            config = self.config
            tokenizer = self.seat.spec.inputs_of("tokenizer")
            model = {
                "gpt": config.model.document(),
                "precision": config.precision,
                "tokenizer": tokenizer[0].document() if tokenizer else None,
            }
            extra = {"loss": made.loss, "tokens": made.tokens, "loss_tokens": made.loss_tokens}
            files = state.files(self.wrapped.module, self.optimizer, self.stream.state, model)
            saved = self.checkpoints.save(self.step, files, extra)
            figures = {
                "loss": made.loss,
                "unigram_loss": self.unigram,
                "grad_norm": made.grad_norm,
                "learning_rate": made.learning_rate,
                "tokens": float(made.tokens),
                "loss_tokens": float(made.loss_tokens),
                "tokens_per_second": made.tokens_per_second,
                "epoch": made.epoch,
            }
            self.writer.send(
                CheckpointSaved(
                    step=self.step,
                    path=self.namespace.canonical(saved.path),
                    digest=saved.digest,
                    loss=made.loss,
                    metrics=figures,
                    tokens=made.tokens,
                )
            )
        torch.distributed.barrier()
        self.last_saved = self.checkpoints.path(self.step)

    def _refuse_unless_finite(self, name: str, value: float, step: int) -> None:
        if math.isfinite(value):
            return
        last = self.namespace.canonical(self.last_saved) if self.last_saved else "none"
        raise FactoryError(
            f"the {name} of step {step} is not finite; the last good checkpoint: {last}",
            found=value,
            expected="a finite number",
            fix="lower optimizer.learning_rate, lengthen schedule.warmup, or set optimizer.clip, and start a new run",
            code="nan",
        )

    def _note(self, text: str) -> None:
        if self.writer is not None:
            self.writer.send(Note(text=text))
