"""Lines of models: which there are, and whether one stands for a model yet."""

from __future__ import annotations

from aifactory.errors import FactoryError
from aifactory.launch.clusters.registry import close_matches
from aifactory.launch.plans.inputs import not_built
from aifactory.launch.refusal import GateRefused
from aifactory.namespace import Namespace, Publications
from aifactory.project import Project
from aifactory.spec import find_recipes


def promoted_or_refused(line: str, ns: Namespace, project: Project) -> None:
    """Return if something was promoted to the line. Raises GateRefused, code "input_not_built", for a line of a recipe
    that has no snapshot yet; FactoryError, code "unknown_target", with close names for one that no recipe has."""
    if Publications(ns, line).current() is not None:
        return
    lines = {recipe.line for recipe in find_recipes(project).values()}
    if line in lines:
        raise GateRefused([not_built(line, f"the evaluation of {line}")], what=f"{line} can't be evaluated")
    raise FactoryError(
        f"there is no line {line}",
        found=line,
        expected=close_matches(line, sorted(lines)),
        fix="name the line of a recipe: @recipe(line=...)",
        code="unknown_target",
    )
