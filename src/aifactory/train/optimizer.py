"""Megatron's data-parallel wrapper and its Adam, from the config."""

from __future__ import annotations

from typing import Any, Protocol

from megatron.core.distributed import DistributedDataParallel, DistributedDataParallelConfig
from megatron.core.optimizer import OptimizerConfig, get_megatron_optimizer

from aifactory.train.model import DTYPES

NEVER_REACHED = 1e30
"""Megatron measures the gradient's norm only where it clips; this bound measures and leaves gradients alone."""


class OptimizerLike(Protocol):
    """`aifactory.spec`'s Optimizer: `clip` is the largest global gradient norm, 0 for no clipping."""

    @property
    def learning_rate(self) -> float: ...
    @property
    def weight_decay(self) -> float: ...
    @property
    def betas(self) -> tuple[float, float]: ...
    @property
    def clip(self) -> float: ...


def wrap(model: Any) -> Any:
    """The model whose gradients are summed (in fp32) over data-parallel workers."""
    config = DistributedDataParallelConfig(use_distributed_optimizer=False, grad_reduce_in_fp32=True)
    return DistributedDataParallel(model.config, config, model)


def make_optimizer(wrapped: Any, config: OptimizerLike, precision: str) -> Any:
    """AdamW with fp32 weights and moments; biases and norms are not decayed."""
    optimizer = get_megatron_optimizer(
        OptimizerConfig(
            optimizer="adam",
            lr=config.learning_rate,
            weight_decay=config.weight_decay,
            adam_beta1=config.betas[0],
            adam_beta2=config.betas[1],
            clip_grad=config.clip or NEVER_REACHED,
            bf16=precision == "bf16",
            params_dtype=DTYPES[precision],
            use_distributed_optimizer=False,
        ),
        [wrapped],
    )
    for group in optimizer.param_groups:
        group["weight_decay"] = config.weight_decay * group["wd_mult"]
    return optimizer


def step(optimizer: Any, learning_rate: float) -> float:
    """Take one step at this rate; returns the gradient's global norm before clipping.

    With a norm that is not finite nothing is updated in bf16, and weights are lost in fp32: the caller stops.
    """
    for group in optimizer.param_groups:
        group["lr"] = learning_rate
    _, norm, _ = optimizer.step()
    return float("nan") if norm is None else float(norm)
