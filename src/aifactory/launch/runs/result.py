"""How a run ends, and what a launch gives back."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from aifactory.channel import Message
from aifactory.channel.payloads import Failure

Outcome = Literal[
    "refused", "succeeded", "failed_code", "failed_infrastructure", "preempted", "deadline", "cancelled", "lost"
]
Signal = Literal["run", "stop", "detach"]
TRY_AGAIN: frozenset[str] = frozenset({"preempted", "failed_infrastructure", "lost"})


@dataclass(frozen=True)
class RunResult:
    """One launch, watched to its end.

    `outcome` is how the run's newest attempt ended, or "detached" when the caller left it running. `launched` tells
    whether this call made the attempt: adopted and replayed ones were made by another. `messages` are the whole
    attempt's, in order.
    """

    run: str
    directory: Path
    outcome: Outcome | Literal["detached"]
    attempt: int
    messages: tuple[Message, ...] = ()
    error: Failure | None = None
    launched: bool = False

    @property
    def succeeded(self) -> bool:
        return self.outcome == "succeeded"
