"""The digest of the config types themselves: two pieces of code with one digest read a spec the same way."""

from __future__ import annotations

from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic.fields import FieldInfo

from aifactory.spec.config import Config
from aifactory.spec.run_spec import RunSpec
from aifactory.store import digest


def config_schema() -> str:
    """64 hex digits over names, types and defaults of every field that a run spec can hold, in our own walk: no
    release of pydantic and no docstring changes it."""
    return digest(fields_of(RunSpec))


def fields_of(config: type[Config]) -> dict[str, dict[str, list[object]]]:
    """For this config type and every other that it can hold: [type, default] by name of the field."""
    seen: dict[str, dict[str, list[object]]] = {}
    _walk(config, seen)
    return seen


def _walk(config: type[Config], seen: dict[str, dict[str, list[object]]]) -> None:
    if config.__name__ in seen:
        return
    fields = seen[config.__name__] = {}
    for name, field in sorted(config.model_fields.items()):
        fields[field.alias or name] = [_type(field.annotation, seen), _default(field)]


def _type(annotation: Any, seen: dict[str, dict[str, list[object]]]) -> object:
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _type(arguments[0], seen)
    if isinstance(annotation, type) and issubclass(annotation, Config):
        _walk(annotation, seen)
        return annotation.__name__
    if origin in (Union, UnionType):
        return ["union", *sorted((_type(one, seen) for one in arguments), key=str)]
    if origin is not None:
        return [getattr(origin, "__name__", str(origin)), *(_type(one, seen) for one in arguments)]
    return annotation if isinstance(annotation, str) else getattr(annotation, "__name__", str(annotation))


def _default(field: FieldInfo) -> object:
    if field.is_required():
        return "required"
    default = field.get_default(call_default_factory=True, validated_data={})
    if isinstance(default, Config):
        return default.document()
    return list(default) if isinstance(default, tuple) else default
