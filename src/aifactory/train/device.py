"""Which device this process trains on, and the process group that goes with it."""

from __future__ import annotations

import logging
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta

import torch


@dataclass(frozen=True)
class Device:
    """`name` is "cpu" or "cuda:<index>"; `backend` the collective library: gloo on CPUs, nccl on GPUs."""

    name: str
    backend: str

    @property
    def gpu(self) -> bool:
        return self.backend == "nccl"


def prepare(threads: int, *, local_rank: int = 0) -> Device:
    """Choose the device by capability, make torch deterministic, and install the shim where there is no GPU.

    Call it in the thread that trains, before anything imports megatron. `threads` is the number of CPU threads of one
    operation: it decides the order of sums, so it is part of the spec.
    """
    # Megatron describes itself at length at each start, and warns of what is not installed here.
    logging.getLogger("megatron").setLevel(logging.ERROR)
    warnings.filterwarnings("ignore", module="megatron")
    warnings.filterwarnings("ignore", message="invalid escape sequence", category=SyntaxWarning)
    torch.set_num_threads(threads)
    # cuBLAS is deterministic only with a fixed workspace, which it reads at its first call.
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    # The same as use_deterministic_algorithms(True), which imports torch's compiler for its sake: 12 s.
    torch.set_deterministic_debug_mode("error")
    # Filling fresh memory is a debugging aid of that mode, and a third of a small model's step.
    torch.utils.deterministic.fill_uninitialized_memory = False
    if torch.cuda.is_available() and torch.distributed.is_nccl_available():
        torch.cuda.set_device(local_rank)
        return Device(f"cuda:{local_rank}", "nccl")
    from aifactory.train import cpu_shim

    cpu_shim.install()
    return Device("cpu", "gloo")


@contextmanager
def session(threads: int, *, local_rank: int = 0) -> Iterator[Device]:
    """`prepare`, and a process group: the launcher's (Ray Train's) if there is one, else one of this process alone.

    Afterwards megatron's groups and the own group are gone, so that another model can be made in this process.
    """
    device = prepare(threads, local_rank=local_rank)
    own = not torch.distributed.is_initialized()
    if own:
        torch.distributed.init_process_group(
            device.backend, rank=0, world_size=1, store=torch.distributed.HashStore(), timeout=timedelta(minutes=10)
        )
    from megatron.core import parallel_state

    try:
        yield device
    finally:
        parallel_state.destroy_model_parallel()
        if own:
            torch.distributed.destroy_process_group()
