"""Grants in force: the tables `[[tool.aifactory.grants]]` of the project's pyproject.toml."""

from __future__ import annotations

import difflib
from typing import Any

from aifactory.errors import FactoryError
from aifactory.namespace.access import Grant
from aifactory.namespace.settings import FILE, setting
from aifactory.project import Project

FIELDS = ("from", "to", "why")
EXAMPLE = '[[tool.aifactory.grants]]  from = "private/clinic"  to = "private/oncology"  why = "ethics board, 2026-03"'


def load_grants(project: Project) -> tuple[Grant, ...]:
    """The grants in force, in the file's order; none without the file (an image has none: a run's context names them).

    Raises FactoryError naming the table: code "grants" for what is no grant (a missing, unknown or empty field) and for
    a project that nothing belongs to, "class" for an end that is no private class, for a grant to itself and for one
    without a reason; and what `setting` raises.
    """
    path = project.root / FILE
    return tuple(_grant(f"{path}: grant {n}", table, project) for n, table in enumerate(_tables(project), start=1))


def projects(project: Project) -> tuple[str, ...]:
    """The private projects that are known here: under assets/private/, or with data in the namespace."""
    found: set[str] = set()
    roots = (project.root / "assets", project.namespace, *project.lower)
    for place in (root / "private" for root in roots):
        if place.is_dir():
            found |= {one.stem for one in place.iterdir() if one.is_dir() or one.suffix == ".py"}
    return tuple(sorted(name for name in found if not name.startswith((".", "_"))))


def _tables(project: Project) -> list[Any]:
    tables = setting(project, "grants")
    if tables is None:
        return []
    if not isinstance(tables, list):
        raise FactoryError(
            f"{project.root / FILE}: tool.aifactory.grants is no list of tables",
            found=type(tables).__name__,
            expected=EXAMPLE,
            fix="write double brackets: one [[tool.aifactory.grants]] for each grant",
            code="grants",
        )
    return tables


def _grant(name: str, table: Any, project: Project) -> Grant:
    if not isinstance(table, dict):
        raise FactoryError(f"{name} is no table", found=repr(table), expected=EXAMPLE, fix="write it so", code="grants")
    for field in table:
        if field not in FIELDS:
            close = difflib.get_close_matches(field, FIELDS, n=1)
            fix = f"write {close[0]!r}" if close else "remove it"
            raise FactoryError(
                f"{name} has an unknown field {field!r}", found=field, expected="from, to, why", fix=fix, code="grants"
            )
    for field in FIELDS:
        if not isinstance(table.get(field), str):
            raise FactoryError(
                f"{name} has no text for {field!r}",
                found=repr(table[field]) if field in table else "nothing",
                expected=EXAMPLE,
                fix=f"fill in {field!r}" + (": who allowed it, and where that is written" if field == "why" else ""),
                code="grants",
            )
    try:
        grant = Grant(table["from"], table["to"], table["why"])
    except FactoryError as error:
        what = f"{name}: {error.what}"
        raise FactoryError(what, found=error.found, expected=error.expected, fix=error.fix, code=error.code) from error
    known = projects(project)
    for field, access in (("from", grant.source), ("to", grant.target)):
        owner = access.removeprefix("private/")
        if owner not in known:
            close = difflib.get_close_matches(owner, known, n=3) or list(known)
            raise FactoryError(
                f"{name}: {field!r} names an unknown project",
                found=access,
                expected=", ".join(f"private/{one}" for one in close) or "a project with a dataset: there is none yet",
                fix=f"correct the name, or declare a dataset of {owner} in assets/private/{owner}/ first",
                code="grants",
            )
    return grant
