"""Names: a stage is called after the module and the variable that hold it, and finds its siblings there."""

from __future__ import annotations

from difflib import get_close_matches
from functools import cache
from typing import TYPE_CHECKING, Any

from aifactory.errors import FactoryError
from aifactory.namespace import Key

if TYPE_CHECKING:
    from aifactory.datasets.stage import Edge, Stage

ROOT = "assets."


def bind(stage: Stage) -> str | None:
    """Name every stage of the module that `stage` was made in; the name of `stage`, if the module holds it by now."""
    bind_scope(stage.scope)
    return stage.bound_name


def bind_scope(scope: dict[str, Any]) -> dict[str, Stage]:
    """The stages that a module made and holds, by variable; `scope` is its namespace. One object under two names is
    an error."""
    from aifactory.datasets.stage import Stage

    found: dict[str, Stage] = {}
    for name, value in list(scope.items()):
        if type(value) is Stage and value.scope is scope:
            if value.bound_name not in (None, name):
                raise FactoryError(
                    f"one stage has two names in {value.file}",
                    found=f"{value.bound_name} and {name}",
                    expected="one variable per stage",
                    fix="remove one of them, or call the factory twice",
                    code="two_names",
                )
            value.bound_name = name
            found[name] = value
    return found


@cache
def key(module: str, name: str) -> Key | None:
    """`assets.public.medquad`, `clean` -> `public/medquad/clean`; None outside `assets/`."""
    if not module.startswith(ROOT):
        return None
    return Key.parse("/".join([*module.removeprefix(ROOT).split("."), name]))


def edges(stage: Stage) -> tuple[Edge, ...]:
    """The inputs of `stage`: from `inputs`, else the stage of the parameter's name in its module."""
    from aifactory.datasets import shapes
    from aifactory.datasets.stage import Edge, Part, Stage

    if stage.function is None:
        roles: tuple[str, ...] = tuple(stage.given_inputs)
        optional: frozenset[str] = frozenset()
    else:
        accepted = shapes.signature(stage.function, stage.label)
        roles, optional = accepted.parameters, accepted.optional
    scope = stage.scope
    found: list[Edge] = []
    target: str
    for role in roles:
        given = stage.given_inputs.get(role, scope.get(role))
        part = None
        if isinstance(given, Part):
            given, part = given.stage, given.name
        if isinstance(given, str) and role in stage.given_inputs:
            target, given = Key.parse(given), None
        elif isinstance(given, Stage):
            if given is stage:
                raise cycle([stage.label, stage.label])
            target = _key_of(stage, role, given)
        elif role in optional:
            continue
        else:
            raise _unknown(stage, role, scope, given)
        part = part or _part(stage, given)
        kind = "tokenizer" if isinstance(given, Stage) and given.kind == "tokenizer" else "dataset"
        found.append(Edge(role, target, part, kind, given if isinstance(given, Stage) else None))
    return tuple(found)


def _part(stage: Stage, given: object) -> str | None:
    """A tokenizer is trained on the train part and a suite reads the test part, of a stage that has parts."""
    if getattr(given, "factory", None) != "split":
        return None
    return {"tokenizer": "train", "suite": "test"}.get(stage.factory)


def _key_of(stage: Stage, role: str, given: Stage) -> str:
    found = given.key
    if found is not None:
        return found
    if given.name is not None:
        return given.name
    raise FactoryError(
        f"{stage.label}: its input {role!r} has no name",
        found=f"{given.factory} at {given.file}:{given.line}",
        expected="a stage held by a variable of its module",
        fix="give it a variable of its own: the variable's name is its key",
        code="unnamed",
    )


def _unknown(stage: Stage, role: str, scope: dict[str, object], given: object) -> FactoryError:
    from aifactory.datasets.stage import Stage

    siblings = sorted(name for name, value in scope.items() if isinstance(value, Stage) and value is not stage)
    close = get_close_matches(role, siblings, n=3, cutoff=0.5)
    what = "is not a stage" if role in stage.given_inputs else "names no stage of this module"
    return FactoryError(
        f"{stage.label}: the parameter {role!r} {what}",
        found=type(given).__name__ if given is not None else role,
        expected=f"one of {close}" if close else f"one of {siblings}" if siblings else "a stage made above it",
        fix=f"rename the parameter, or say which stage it is: inputs={{{role!r}: ...}}",
        code="unknown_input",
    )


def cycle(path: list[str]) -> FactoryError:
    """Stages that need each other, in order."""
    return FactoryError(
        "stages need each other in a circle",
        found=" -> ".join(path),
        expected="a stage reads only stages that don't read it",
        fix="remove one of these inputs",
        code="cycle",
    )
