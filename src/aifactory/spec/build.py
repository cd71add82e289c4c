"""Build: the work of one stage of a dataset."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, field_validator, model_validator

from aifactory.namespace import Key
from aifactory.spec.config import Config, Flag, Json, refuse
from aifactory.spec.mix import KeyText

StageKind = Literal["files", "table", "tokens", "tokenizer", "suite"]
Access = Annotated[str, Field(pattern=r"^(public|private/[a-z][a-z0-9_]*)$")]


class CheckSpec(Config):
    """One check of a stage: its name within the stage, which kind of check it is, and that kind's parameters."""

    name: Annotated[str, Field(min_length=1)]
    kind: Annotated[str, Field(min_length=1)]
    parameters: Json = Field(default_factory=dict)
    blocking: Flag = True


class Build(Config):
    """What makes the next version of `key`: the function (`module:name`), the version of its code, its parameters,
    the checks that gate publishing. The inputs, named by parameter, are the run spec's. With `only_checks` nothing is
    made: the checks run on the one input, a snapshot of `key` with the role `snapshot`."""

    key: KeyText
    kind: StageKind
    function: Annotated[str, Field(pattern=r"^[A-Za-z_][\w.]*:[A-Za-z_][\w.]*$")]
    code_version: Annotated[str, Field(min_length=1)]
    parameters: Json = Field(default_factory=dict)
    access: Access
    benchmark: Flag = False
    checks: tuple[CheckSpec, ...] = ()
    only_checks: Flag = False

    @model_validator(mode="after")
    def _class_of_the_key(self) -> Self:
        own = Key.parse(self.key).access
        if self.access != own:
            raise refuse(
                f"Build: {self.key} is no key of the class {self.access}",
                found=self.access,
                expected=own,
                fix="leave it to the key: its first segments are its class",
            )
        return self

    @field_validator("checks", mode="after")
    @classmethod
    def _sorted(cls, checks: tuple[CheckSpec, ...]) -> tuple[CheckSpec, ...]:
        names = [check.name for check in checks]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise refuse("Build: two checks of one name", found=", ".join(twice), fix="give each check its own name")
        return tuple(sorted(checks, key=lambda check: check.name))
