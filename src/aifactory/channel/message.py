"""One message: our number and attempt around a message of Dagster Pipes."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from aifactory.channel.payloads import PAYLOAD, Closed, Note, Payload, Started
from aifactory.channel.safe import WITHHELD, safe

PIPES_VERSION = "0.1"


class Message(BaseModel):
    """Message `seq` (1, 2, ...) of an attempt. `time` is UTC, ISO 8601. `pipes` is what a Pipes handler takes."""

    model_config = ConfigDict(frozen=True, extra="ignore", populate_by_name=True)

    pipes_version: str = Field(default=PIPES_VERSION, alias="__dagster_pipes_version")
    seq: int
    attempt: int
    time: str
    method: str
    params: dict[str, Any]

    @classmethod
    def of(cls, payload: Payload, *, seq: int, attempt: int, time: str) -> Message:
        method, params = _encode(payload)
        return cls(seq=seq, attempt=attempt, time=time, method=method, params=params)

    @property
    def payload(self) -> Payload:
        """The typed payload. Raises pydantic's ValidationError for one that this version does not know."""
        match self.method:
            case "log":
                return Note(level=self.params["level"].lower(), text=self.params["message"])
            case "opened":
                return PAYLOAD.validate_python(self.params["extras"])
            case _:
                return PAYLOAD.validate_python(self.params["payload"])

    @property
    def pipes(self) -> dict[str, Any]:
        """The message as Dagster's PipesMessageHandler takes it."""
        return {"__dagster_pipes_version": self.pipes_version, "method": self.method, "params": self.params}

    def safe(self) -> Message:
        """The message of a private run as it may be shown; one that this version does not know, as a note of that."""
        try:
            payload = safe(self.payload)
        except (ValidationError, LookupError, TypeError, AttributeError):
            payload = Note(level="warning", text=WITHHELD)
        return Message.of(payload, seq=self.seq, attempt=self.attempt, time=self.time)

    def body(self) -> dict[str, Any]:
        """The message as the journal keeps it."""
        return self.model_dump(by_alias=True)


def _encode(payload: Payload) -> tuple[str, dict[str, Any]]:
    data = payload.model_dump(mode="json")
    match payload:
        case Started():
            return "opened", {"extras": data}
        case Note():
            return "log", {"message": payload.text, "level": payload.level.upper()}
        case Closed():
            params: dict[str, Any] = {"payload": data}
            if payload.error is not None:
                stack = payload.error.trace.splitlines(keepends=True)
                params["exception"] = {
                    "message": payload.error.text,
                    "stack": stack,
                    "name": payload.error.type,
                    "cause": None,
                    "context": None,
                }
            return "closed", params
        case _:
            return "report_custom_message", {"payload": data}
