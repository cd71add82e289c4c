"""The way back: numbered commands to a running attempt, and its acknowledgements."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aifactory.errors import FactoryError
from aifactory.store import Journal

KNOWN = ("stop",)


@dataclass(frozen=True)
class Command:
    """Command `n` (1, 2, ...) of an attempt."""

    n: int
    name: str
    arguments: dict[str, Any] = field(default_factory=dict)


class Commands:
    """Commands of one attempt. `send` is the launcher's half, `pending` and `acknowledge` the driver's.

    Each half writes a journal of its own (`commands/`, `acknowledged/`), so that either can be copied between sites.
    """

    def __init__(self, attempt_directory: Path):
        self.directory = attempt_directory
        self._commands = Journal(attempt_directory / "commands")
        self._acknowledged = Journal(attempt_directory / "acknowledged")

    def send(self, name: str, *, writer: str = "launcher", **arguments: Any) -> int:
        """Append the command and return its number. Raises FactoryError (code "command") for an unknown name."""
        if name not in KNOWN:
            raise FactoryError(f"unknown command {name!r}", expected=", ".join(KNOWN), code="command")
        return self._commands.append({"name": name, "arguments": arguments}, writer=writer).n

    def sent(self) -> list[Command]:
        """All commands so far."""
        return [Command(r.n, r.body["name"], r.body["arguments"]) for r in self._commands.records()]

    def asked_to_stop(self) -> bool:
        """Whether somebody has told it to stop."""
        return any(command.name == "stop" for command in self.sent())

    def pending(self) -> list[Command]:
        """Those not acknowledged yet, oldest first."""
        done = self.acknowledged()
        return [command for command in self.sent() if command.n not in done]

    def acknowledge(self, n: int, answer: str = "") -> None:
        """Say that command `n` was taken."""
        self._acknowledged.append({"command": n, "answer": answer}, writer="driver")

    def acknowledged(self) -> dict[int, str]:
        """Answers by command number."""
        return {r.body["command"]: r.body["answer"] for r in self._acknowledged.records()}
