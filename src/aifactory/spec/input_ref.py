"""InputRef: one input of a run, pinned to the bytes."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from aifactory.spec.config import Config, Hex64, refuse
from aifactory.spec.mix import KeyText

InputKind = Literal["dataset", "tokenizer", "suite", "model", "checkpoint"]
Part = Literal["train", "val", "test"]


class InputRef(Config):
    """`role` is what the run uses it as (a build: the parameter's name). `version` is the manifest's, all 64 hex
    digits; a checkpoint's is the digest of its `checkpoint.json`, its key the line. `part` is None for the whole."""

    role: Annotated[str, Field(min_length=1)]
    kind: InputKind
    key: KeyText
    version: Hex64
    part: Part | None = None

    @property
    def name(self) -> str:
        """`key@version` with the 16 digits that directories have."""
        return f"{self.key}@{self.version[:16]}"

    @property
    def order(self) -> tuple[str, str, str, str]:
        """Where it stands among the inputs of a spec."""
        return (self.role, self.key, self.part or "", self.version)

    @model_validator(mode="after")
    def _part_of_data_only(self) -> Self:
        if self.part is not None and self.kind not in ("dataset", "suite"):
            raise refuse(
                f"InputRef {self.key}: a {self.kind} has no parts",
                found=f"part={self.part}",
                fix="leave the part out",
            )
        return self
