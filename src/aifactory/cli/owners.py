"""What the doctor says about who may read and write the tree, and how it lays the roots out."""

from __future__ import annotations

import os
from collections.abc import Iterator

from aifactory.cli.findings import Finding
from aifactory.errors import FactoryError
from aifactory.namespace import Key
from aifactory.namespace.identities import TABLE, Identity, identities, user_name
from aifactory.namespace.trees import lay_out, look
from aifactory.project import Project


def lay_out_roots(project: Project) -> list[str]:
    """Make the root of every class with its owner and mode; a line for each that changed.

    Without identities everything is this user's. FactoryError (code "identities") naming the classes that have none
    where others have one, "not_root" when this user may not give folders away.
    """
    given = identities(project)
    classes = _classes(project)
    without = sorted(classes - given.keys())
    if given and without:
        raise _without(without)
    own = {of: Identity(of, os.geteuid(), os.getegid()) for of in classes}
    done = lay_out(project.namespace, (given or own).values())
    return done or [f"{project.namespace}: every root is as it should be"]


def owners(project: Project) -> Iterator[Finding]:
    """A line for each class that is as it should be, else one for each thing that is wrong."""
    try:
        given, classes = identities(project), _classes(project)
    except FactoryError as error:
        yield Finding("identities", "broken", f"{error.what} ({error.found})", error.fix)
        return
    if given:
        said = ", ".join(f"{of} {one.owner}" for of, one in given.items())
        without = sorted(classes - given.keys())
        if without:
            lacking = _without(without)
            yield Finding("identities", "broken", f"{lacking.what} ({lacking.found})", lacking.fix)
        else:
            yield Finding("identities", "ok", said)
    else:
        yield Finding("identities", "ok", f"none in {TABLE}: {user_name(os.geteuid())} writes every class")
    for one in look(project.namespace, given, classes):
        yield Finding("tree", "broken" if one.fix else "ok", f"{one.place}: {one.text}", one.fix)


def _classes(project: Project) -> set[str]:
    """Those that a dataset or a line is of, and those that have a folder."""
    from aifactory.datasets import find_stages
    from aifactory.spec import find_recipes

    declared = [*find_stages(project), *(recipe.line for recipe in find_recipes(project).values())]
    private = project.namespace / "private"
    there = [f"private/{one.name}" for one in private.iterdir() if one.is_dir()] if private.is_dir() else []
    return {"public", *there, *(Key(key).access for key in declared)}


def _without(classes: list[str]) -> FactoryError:
    example = f'"{classes[0]}" = {{ user = "...", group = "..." }}'
    return FactoryError(
        f"no user writes {', '.join(classes)}",
        found=f"no line in {TABLE}",
        expected="a user for every class that is declared or has a folder",
        fix=f"add {example} to {TABLE} in pyproject.toml",
        code="identities",
    )
