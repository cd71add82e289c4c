"""Lets megatron-core 0.19 run where there is no GPU. Never imported where there is one (device.py decides).

Megatron names "cuda" in literals, asks for the current CUDA device, and makes streams and events that mean nothing on
a CPU. `install()` answers those calls; call it before megatron is imported, in the thread that trains: what redirects
device literals is a mode of one thread.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from typing import Any

import torch
import torch.distributed
from torch.overrides import TorchFunctionMode


def _is_cuda(value: object) -> bool:
    if isinstance(value, str):
        return value.startswith("cuda")
    return isinstance(value, torch.device) and value.type == "cuda"


class _CudaMeansCpu(TorchFunctionMode):
    """Replaces a "cuda" device among the arguments of any torch function by "cpu"."""

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        if kwargs and _is_cuda(kwargs.get("device")):
            kwargs = {**kwargs, "device": "cpu"}
        return func(*("cpu" if _is_cuda(a) else a for a in args), **(kwargs or {}))


class _Event:
    """An event on a device that finishes each call before it returns."""

    def __init__(self, *args: object, **kwargs: object) -> None: ...

    def record(self, *args: object) -> None: ...

    def wait(self, *args: object) -> None: ...

    def synchronize(self) -> None: ...

    def query(self) -> bool:
        return True

    def elapsed_time(self, other: object) -> float:
        return 0.0


class _Stream(contextlib.nullcontext[None]):
    """The one stream of such a device."""

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__()

    def wait_stream(self, *args: object) -> None: ...

    def wait_event(self, *args: object) -> None: ...

    def synchronize(self) -> None: ...

    def record_event(self, *args: object) -> _Event:
        return _Event()


def _patch() -> None:
    cuda: Any = torch.cuda
    cuda.current_device = lambda: torch.device("cpu")
    cuda.synchronize = lambda *a, **k: None
    cuda.Stream, cuda.Event = _Stream, _Event
    cuda.current_stream = lambda *a, **k: _Stream()
    cuda.stream = lambda stream: contextlib.nullcontext()

    # Megatron decorates its fusions, all of which are off here; the compiler's import alone takes longer than theirs.
    library: Any = torch
    library.compile = lambda model=None, **options: model if model is not None else (lambda function: function)

    tensor: Any = torch.Tensor
    tensor.cuda = lambda self, *a, **k: self
    plain_type = tensor.type

    def type_like_cuda(self: Any, *args: Any, **kwargs: Any) -> Any:
        # Megatron's optimizers compare with "torch.cuda.FloatTensor".
        name = plain_type(self, *args, **kwargs)
        if isinstance(name, str) and ".cuda." not in name:
            return name.replace("torch.", "torch.cuda.")
        return name

    tensor.type = type_like_cuda


_once = threading.Lock()
_patched = False
_threads = threading.local()


def install() -> None:
    """Make torch answer for a GPU that is not there, in this process and for this thread. Idempotent."""
    global _patched
    with _once:
        if not _patched:
            _patch()
            _patched = True
    if not getattr(_threads, "entered", False):
        _CudaMeansCpu().__enter__()
        _threads.entered = True
