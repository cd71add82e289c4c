"""What a site hands to a control plane that doesn't share its mount: lines of JSON, each whole by itself.

An answer may be cut, repeated, late or out of order: every line says what it is of, and `End` that there are no more.
Record lines carry a record's bytes as they were written, so that the receiver checks the chain of hashes itself.
"""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import Base64Bytes, BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

JOURNALS = ("messages", "acknowledged")
"""The driver's half of an attempt."""
FILE = re.compile(r"process\.json|leaving\.json|checkpoints/step-\d{8}/checkpoint\.json")
"""Files that are written once; a checkpoint's is of the run's directory, the others of the attempt's."""
GROWING = re.compile(r"metrics\.jsonl|logs/(driver|worker-\d{1,6})\.log")
RAW = re.compile(r"logs/.*")
"""What never leaves the directory of a private run."""


class Line(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class RecordLine(Line):
    """Record `n` of a journal."""

    type: Literal["record"] = "record"
    journal: str
    n: int = Field(ge=1)
    data: Base64Bytes


class FileLine(Line):
    """A file that is written once."""

    type: Literal["file"] = "file"
    name: str
    data: Base64Bytes


class ChunkLine(Line):
    """Bytes of a growing file from `start` on; `skipped` bytes before them are not handed over."""

    type: Literal["chunk"] = "chunk"
    name: str
    start: int = Field(ge=0)
    skipped: int = Field(default=0, ge=0)
    data: Base64Bytes


class MissingLine(Line):
    """Records that are not there although later ones are."""

    type: Literal["missing"] = "missing"
    journal: str
    numbers: tuple[int, ...]
    last: int


class End(Line):
    """The last line. `more`: there is more than this answer may hold. `commands`: how many commands are there."""

    type: Literal["end"] = "end"
    more: bool
    commands: int


AnyLine = Annotated[RecordLine | FileLine | ChunkLine | MissingLine | End, Field(discriminator="type")]
_LINE: TypeAdapter[AnyLine] = TypeAdapter(AnyLine)


def parse(answer: bytes) -> list[AnyLine]:
    """The lines of an answer that are whole."""
    found: list[AnyLine] = []
    for line in answer.splitlines():
        try:
            found.append(_LINE.validate_json(line))
        except ValidationError:
            continue
    return found
