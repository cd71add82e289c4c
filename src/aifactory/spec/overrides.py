"""Overrides: dotted, typed changes of a config, from Python values or from text."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Any, get_args, get_origin

from pydantic import Field
from pydantic.fields import FieldInfo

from aifactory.errors import FactoryError
from aifactory.spec.config import Config
from aifactory.spec.override_text import OverrideText, as_json, read, shown


def parse_overrides(texts: Iterable[str]) -> dict[str, object]:
    """`["model.hidden=128", ...]` as changes for `Config.evolve`; the values are read there, by type of field.

    Raises FactoryError with code "override_syntax", or "conflicting_overrides" for one path with two values.
    """
    changes: dict[str, object] = {}
    for text in texts:
        path, equals, value = text.partition("=")
        path = path.strip()
        if not equals or not path:
            raise FactoryError(
                "an override is written path=value",
                found=repr(text),
                expected="for example model.hidden=128",
                fix="name the field, an equals sign and the value",
                code="override_syntax",
            )
        new = OverrideText(value.strip())
        if path in changes and changes[path] != new:
            raise _conflict(f"{path}={changes[path]}", f"{path}={new}")
        changes[path] = new
    return changes


def as_changes(overrides: Iterable[str] | Mapping[str, object]) -> dict[str, object]:
    """Overrides in either form as changes for `Config.evolve`."""
    return dict(overrides) if isinstance(overrides, Mapping) else parse_overrides(overrides)


def paths(config: Config) -> list[str]:
    """Every dotted path that an override of `config` may name."""
    return list(_paths(config.document(), ""))


def evolved[C: Config](config: C, changes: Mapping[str, object]) -> C:
    """See `Config.evolve`."""
    ordered = sorted(changes)
    for path in ordered:
        inner = next((other for other in ordered if other.startswith(path + ".")), None)
        if inner is not None:
            raise _conflict(f"{path}={shown(changes[path])}", f"{inner}={shown(changes[inner])}")
    document = config.document()
    found, wrong = {}, []
    for path in changes:
        try:
            found[path] = _locate(config, path)
        except FactoryError as error:
            wrong.append(error)
    if wrong:
        raise _together(wrong)
    for path, value in changes.items():
        annotation, current = found[path]
        new = read(path, value, annotation, current) if isinstance(value, OverrideText) else as_json(value)
        *parents, last = path.split(".")
        node: Any = document
        for segment in parents:
            node = node[int(segment) if isinstance(node, list) else segment]
        node[int(last) if isinstance(node, list) else last] = new
    return type(config).model_validate(document)


def _locate(config: Config, path: str) -> tuple[Any, object]:
    """The type that is declared at a path and the value that stands there."""
    annotation: Any = type(config)
    node: object = config
    for segment in path.split("."):
        if isinstance(node, Config):
            field = type(node).model_fields.get(segment)
            if field is None:
                raise _unknown(config, path)
            annotation, node = _declared(field), getattr(node, segment)
        elif isinstance(node, tuple) and segment.isascii() and segment.isdigit() and int(segment) < len(node):
            annotation, node = _item(annotation, int(segment)), node[int(segment)]
        elif isinstance(node, dict) and segment in node:
            annotation, node = Any, node[segment]
        else:
            raise _unknown(config, path)
    return annotation, node


def _declared(field: FieldInfo) -> Any:
    choice = [Field(discriminator=field.discriminator)] if field.discriminator else []
    return Annotated[(field.annotation, *field.metadata, *choice)] if field.metadata or choice else field.annotation


def _item(annotation: Any, index: int) -> Any:
    while get_origin(annotation) is Annotated:
        annotation = get_args(annotation)[0]
    arguments = get_args(annotation)
    return arguments[0] if len(arguments) == 2 and arguments[1] is Ellipsis else arguments[index]


def _paths(node: object, prefix: str) -> Iterator[str]:
    items: Iterable[tuple[object, object]] = ()
    if isinstance(node, dict):
        items = node.items()
    elif isinstance(node, list):
        items = enumerate(node)
    for name, child in items:
        path = f"{prefix}{name}"
        yield path
        yield from _paths(child, f"{path}.")


def _together(wrong: list[FactoryError]) -> FactoryError:
    """All of them at once: nobody corrects one to be told of the next."""
    first = wrong[0]
    if len(wrong) == 1:
        return first
    return FactoryError(
        "; ".join(one.what for one in wrong),
        found=", ".join(str(one.found) for one in wrong),
        expected="; ".join(f"for {one.found} {one.expected}" for one in wrong),
        fix="correct the paths; `aifactory plan` shows every field",
        code=first.code,
    )


def _unknown(config: Config, path: str) -> FactoryError:
    known = paths(config)
    last = path.rsplit(".", 1)[-1]
    ends = {one: one.rsplit(".", 1)[-1] for one in known}
    similar = difflib.get_close_matches(last, set(ends.values()), n=3, cutoff=0.75)
    near = [
        *difflib.get_close_matches(path, known, n=3, cutoff=0.75),
        *(one for word in similar for one, end in ends.items() if end == word),
    ]
    close = list(dict.fromkeys(near))[:5]
    return FactoryError(
        f"override {path}: {type(config).__name__} has no such field",
        found=path,
        expected=f"perhaps {', '.join(close)}" if close else f"one of {', '.join(known)}",
        fix="correct the path; `aifactory plan` shows every field",
        code="unknown_override",
    )


def _conflict(first: str, second: str) -> FactoryError:
    return FactoryError(
        "two overrides contradict each other",
        found=f"{first} and {second}",
        expected="each value set once",
        fix="keep one of them",
        code="conflicting_overrides",
    )
