"""How a project's recipes are found, and one of them by its name."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Mapping
from pathlib import Path

from aifactory.errors import FactoryError
from aifactory.namespace import load_grants
from aifactory.project import Project
from aifactory.spec.folders import import_folder
from aifactory.spec.recipe import Recipe


def find_recipes(project: Project) -> dict[str, Recipe]:
    """Every recipe under `recipes/`, by name, each validated. The stages that recipes name must be bound by now.

    Raises FactoryError with code "recipe" (two of one name, no Train, no line, a baseline that is none), "class" or
    "grants".
    """
    found: dict[str, Recipe] = {}
    for module in import_folder(project, "recipes"):
        path = Path(str(module.__file__))
        defined = {one for one in vars(module).values() if isinstance(one, Recipe) and one.module == module.__name__}
        _refuse_redefinition(path, {one.name for one in defined})
        for one in sorted(defined, key=lambda one: one.name):
            if one.name in found:
                raise FactoryError(
                    f"two recipes are called {one.name}",
                    found=f"{found[one.name].module} and {one.module}",
                    expected="one recipe of a name",
                    fix="rename one of the functions",
                    code="recipe",
                )
            found[one.name] = one
    grants = load_grants(project)
    for one in found.values():
        one.validate(grants)
        if one.baseline is not None:
            _pick(found, one.baseline, f"recipe {one.name} ({one.module}): its baseline {one.baseline!r} is unknown")
    return dict(sorted(found.items()))


def get_recipe(name: str, project: Project | None = None) -> Recipe:
    """The recipe of this name; FactoryError with code "unknown_recipe" lists close matches."""
    return _pick(find_recipes(project or Project.current()), name, f"there is no recipe {name!r}")


def _pick(recipes: Mapping[str, Recipe], name: str, problem: str) -> Recipe:
    if name not in recipes:
        close = difflib.get_close_matches(name, recipes, n=3)
        raise FactoryError(
            problem,
            found=name,
            expected=f"perhaps {', '.join(close)}" if close else f"one of {', '.join(sorted(recipes)) or 'none'}",
            fix="correct the name, or add the recipe under recipes/",
            code="unknown_recipe",
        )
    return recipes[name]


def _refuse_redefinition(path: Path, names: set[str]) -> None:
    """A second `def` of one name would silently replace the first."""
    lines: dict[str, int] = {}
    for node in ast.parse(path.read_bytes()).body:
        if isinstance(node, ast.FunctionDef) and node.name in names:
            if node.name in lines:
                raise FactoryError(
                    f"two recipes are called {node.name}",
                    found=f"{path.name} lines {lines[node.name]} and {node.lineno}",
                    expected="one recipe of a name",
                    fix="rename one of the functions",
                    code="recipe",
                )
            lines[node.name] = node.lineno
