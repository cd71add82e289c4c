"""Why a training on several workers failed, out of Ray Train's wrapping."""

from __future__ import annotations

from aifactory.errors import FactoryError
from aifactory.pod.errand import lost

BROKEN = (
    "Connection closed by peer",
    "Connection reset by peer",
    "NCCL communicator was aborted",
    "remote process exited",
)
"""What a collective operation says on the worker whose partner has gone."""


def cause(error: BaseException) -> BaseException:
    """The exception that a worker raised, worker 0's first, as far as it is an error of the machinery; else which
    worker failed; FactoryError "worker_lost" for one whose process or pod ended, which is no error of the code."""
    failures: dict[int, BaseException] = getattr(error, "worker_failures", {})
    for _, inner in sorted(failures.items()):
        if isinstance(inner, FactoryError):
            return inner
    for rank, inner in sorted(failures.items()):
        if _is_loss(inner):
            return lost(f"worker {rank} of the training", inner)
    if not failures:
        return lost("a worker of the training", error) if _is_loss(error) else error
    # One that only heard of another's end comes last.
    rank, first = min(failures.items(), key=lambda one: (_is_echo(one[1]), one[0]))
    if _is_echo(first):
        return lost("a worker of the training", first)
    return FactoryError(
        f"worker {rank} of the training failed",
        found=type(first).__name__,
        fix="read the attempt's logs",
        code="worker",
    )


def _is_loss(error: BaseException) -> bool:
    from ray.exceptions import NodeDiedError, OutOfMemoryError, RayActorError, WorkerCrashedError

    kinds = (RayActorError, NodeDiedError, OutOfMemoryError, WorkerCrashedError)
    # Ray Train hides what a health check met inside its own error.
    inner = getattr(error, "health_check_failure", None) or error.__cause__
    return isinstance(error, kinds) or isinstance(inner, kinds)


def _is_echo(error: BaseException) -> bool:
    return any(text in str(error) for text in BROKEN)
