"""Override values: as Python gives them, and as a person types them."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from typing import Any

from pydantic import TypeAdapter, ValidationError

from aifactory.errors import FactoryError
from aifactory.spec.config import Config, plain

WORDS = {"true": True, "false": False, "none": None, "null": None}


class OverrideText(str):
    """A value as a person typed it; the type of the field that it lands on decides how it is read."""


def read(path: str, text: OverrideText, annotation: Any, current: object) -> object:
    """The JSON value that `text` stands for in a field of this type."""
    adapter: TypeAdapter[object] = TypeAdapter(annotation)
    reason = ""
    for candidate in _candidates(text):
        try:
            return as_json(adapter.validate_python(candidate))
        except ValidationError as error:
            reason = reason or error.errors(include_url=False)[0]["msg"]
        except FactoryError as error:
            reason = reason or error.what
    raise FactoryError(
        f"override {path}: {reason}",
        found=repr(str(text)),
        expected=f"a value like the present one, {shown(current)}",
        fix=f"write {path}=<value of that type>",
        code="override_value",
    )


def _candidates(text: str) -> Iterator[object]:
    if text.lower() in WORDS:
        yield WORDS[text.lower()]
    try:
        yield json.loads(text)
    except ValueError:
        with contextlib.suppress(ValueError):
            yield float(text)
    yield str(text)


def as_json(value: object) -> object:
    """The JSON values of a config, or of anything that is JSON by itself."""
    return value.document() if isinstance(value, Config) else plain(value)


def shown(value: object) -> str:
    """A value as an error quotes it."""
    value = as_json(value)
    return value if isinstance(value, OverrideText) else json.dumps(value)
