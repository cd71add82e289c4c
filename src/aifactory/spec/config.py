"""Config: the frozen base of everything that a recipe returns or a run spec holds."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Self, cast

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    ModelWrapValidatorHandler,
    Strict,
    ValidationError,
    model_validator,
)

from aifactory.errors import FactoryError
from aifactory.store import canonical

LARGEST = 2**53 - 1
"""The largest integer that every JSON reader keeps exactly."""

Int = Annotated[int, Strict(), Field(ge=-LARGEST, le=LARGEST)]
Count = Annotated[int, Strict(), Field(ge=1, le=LARGEST)]
Whole = Annotated[int, Strict(), Field(ge=0, le=LARGEST)]
Real = Annotated[float, Strict(), Field(allow_inf_nan=False)]
Flag = Annotated[bool, Strict()]
Hex64 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


def plain(value: object) -> object:
    """The same value with mappings as dicts and sequences as lists, copied, as JSON would give it back."""
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [plain(item) for item in value]
    return value


def _has_canonical_form(value: dict[str, JsonValue]) -> dict[str, JsonValue]:
    try:
        canonical(value)
    except FactoryError as error:
        raise ValueError(str(error)) from error
    return value


def read_json(data: bytes | str) -> Any:
    """JSON values of a canonical form. RFC 8785 spells the float 1e16 as an integer; it is read as a float again."""
    return json.loads(data, parse_int=lambda text: int(text) if abs(int(text)) <= LARGEST else float(text))


Json = Annotated[dict[str, JsonValue], BeforeValidator(plain), AfterValidator(_has_canonical_form)]
"""Free parameters: a JSON object without NaN, infinities or integers beyond 2**53 - 1."""


class Config(BaseModel):
    """A frozen record that has one canonical form: unknown fields, NaN, infinities and text for numbers are refused.

    Two configs of one meaning have equal `canonical()` bytes whatever the order of their fields or the spelling of
    their numbers (1 and 1.0 in a float field). What is wrong is raised as a FactoryError with code "config".
    """

    model_config = ConfigDict(
        frozen=True, extra="forbid", allow_inf_nan=False, validate_default=True, validate_by_name=True
    )

    @model_validator(mode="wrap")
    @classmethod
    def _explain(cls, data: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        try:
            return handler(data)
        except ValidationError as error:
            raise explained(cls.__name__, error) from error

    def document(self) -> dict[str, JsonValue]:
        """This config as JSON values, every default included."""
        return cast(dict[str, JsonValue], self.model_dump(mode="json", by_alias=True))

    def canonical(self) -> bytes:
        """RFC 8785 JSON of the document."""
        return canonical(self.document())

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and isinstance(other, Config) and self.canonical() == other.canonical()

    def __hash__(self) -> int:
        return hash(self.canonical())

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """A copy; pydantic's `update` skips validation, so it is refused."""
        if update:
            raise FactoryError(f"{type(self).__name__}: model_copy(update=...) validates nothing", fix="use evolve")
        return super().model_copy(deep=deep)

    def evolve(self, changes: Mapping[str, object]) -> Self:
        """A copy with dotted paths changed (`{"model.hidden": 128}`), validated as a whole after all changes.

        A path's segments are field names and indices of tuples. Values are typed; those that `parse_overrides` made
        from text are read by the type of their field. Raises FactoryError with code "unknown_override" (names close
        matches), "conflicting_overrides" (one path within another) or "config" (the result is not valid).
        """
        from aifactory.spec.overrides import evolved

        return evolved(self, changes)


def explained(name: str, error: ValidationError) -> FactoryError:
    """One readable error from pydantic's: what field, the value found, what was expected."""
    problems = error.errors(include_url=False)
    first = problems[0]
    lines = [f"{'.'.join([name, *map(str, one['loc'])])}: {one['msg']}" for one in problems]
    # A missing field has its parent for an input, and a whole mapping says nothing that the lines above don't.
    shown = first["type"] != "missing" and not isinstance(first["input"], Mapping)
    if first["type"] == "extra_forbidden":
        fix = "remove it, or correct its name"
    elif first["type"] == "missing":
        fix = "give it a value"
    else:
        fix = "give a value of the type and range named above"
    return FactoryError("\n  ".join(lines), found=repr(first["input"]) if shown else None, fix=fix, code="config")


def refuse(what: str, *, found: object = None, expected: object = None, fix: str = "") -> FactoryError:
    """The error of a rule that spans several fields."""
    return FactoryError(what, found=found, expected=expected, fix=fix, code="config")
