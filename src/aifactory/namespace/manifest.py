"""Manifest: what a snapshot contains, and so what its version is."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from aifactory.errors import FactoryError
from aifactory.namespace.access import validate
from aifactory.store import canonical, digest

Kind = Literal["table", "tokens", "tokenizer", "files", "suite", "model"]
PARTS = ("train", "val", "test")
MANIFEST = "manifest.json"
RESTORE = "restore it from a copy, or delete {path} and materialize the key again: equal content gets the same version"


class _Content(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Column(_Content):
    """One column of a table: `type` as Arrow spells it, such as "string" or "list<item: int32>"."""

    name: str
    type: str
    nullable: bool


class FileEntry(_Content):
    """One file: `path` relative to the snapshot, with `/`; size in bytes; sha256 (64 hexadecimal digits); rows where
    that means something; the part (train, val, test) that it belongs to, None when it belongs to none."""

    path: str
    bytes: int = Field(ge=0)
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    rows: int | None = Field(default=None, ge=0)
    part: str | None = None

    @field_validator("path")
    @classmethod
    def _inside(cls, path: str) -> str:
        segments = path.split("/")
        if any(segment in ("", ".", "..") or len(segment.encode()) > 255 for segment in segments):
            raise ValueError(f"{path!r} is not a relative path without `.` and `..`")
        if not path.isprintable() or "\\" in path or segments[0].startswith("@") or path == MANIFEST:
            raise ValueError(f"{path!r} is not a name that a snapshot can hold")
        return path

    @field_validator("part")
    @classmethod
    def _known(cls, part: str | None) -> str | None:
        if part is not None and part not in PARTS:
            raise ValueError(f"{part!r} is not a part: train, val or test")
        return part


class Manifest(_Content):
    """A snapshot's content: nothing in it says who made it, when, or from what (a publication does)."""

    format: Literal[1] = 1
    kind: Kind
    columns: tuple[Column, ...] = ()
    access: str
    benchmark: bool = False
    files: tuple[FileEntry, ...] = Field(min_length=1)

    @field_validator("access")
    @classmethod
    def _class(cls, access: str) -> str:
        return validate(access)

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        paths = [file.path for file in self.files]
        if paths != sorted(set(paths)):
            raise ValueError("files are not sorted by path, or one is listed twice")
        return self

    @cached_property
    def version(self) -> str:
        """SHA-256 over the canonical content: 64 hexadecimal digits."""
        return digest(self.model_dump(mode="json"))

    @property
    def rows(self) -> int | None:
        """Rows of all files that count them; None when none does."""
        counted = [file.rows for file in self.files if file.rows is not None]
        return sum(counted) if counted else None

    @property
    def bytes(self) -> int:
        """Bytes of all files."""
        return sum(file.bytes for file in self.files)

    @property
    def parts(self) -> tuple[str, ...]:
        """The parts that have a file, in the order train, val, test."""
        present = {file.part for file in self.files}
        return tuple(part for part in PARTS if part in present)


def encode(manifest: Manifest) -> bytes:
    """What `manifest.json` holds."""
    return canonical(manifest.model_dump(mode="json")) + b"\n"


def decode(data: bytes, path: Path) -> Manifest:
    """The manifest in `data`, which was read from `path`; FactoryError "integrity" when it isn't one."""
    try:
        return Manifest.model_validate_json(data)
    except (ValidationError, FactoryError) as error:
        raise FactoryError(
            f"{path} is torn or altered",
            found=str(error).splitlines()[0] if isinstance(error, FactoryError) else error.errors()[0]["msg"],
            expected="a manifest of format 1",
            fix=RESTORE.format(path=path.parent),
            code="integrity",
        ) from error
