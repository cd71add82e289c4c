"""What a person typed as the thing to plan: a recipe, a stage, a checkpoint, a line, a frozen spec."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from aifactory.errors import FactoryError
from aifactory.project import Project

if TYPE_CHECKING:
    from aifactory.datasets import Stage
    from aifactory.launch import EvaluateTarget
    from aifactory.spec import Recipe

HASH = re.compile(r"[0-9a-f]{8,64}")
HELP = (
    "A recipe (`tiny`), a stage's key (`public/icd10cm/clean`), a checkpoint (`/factory/.../checkpoints/step-00000100` "
    "or `<run>/100`), a line of models (`public/models/tiny`, or `...@<version>`), or the hash of a frozen spec (8 "
    "digits or more)."
)


def target(text: str, project: Project) -> Recipe | Stage | EvaluateTarget | str:
    """The object that `text` names. FactoryError (code "unknown_target") with close names, "unknown_spec"."""
    from aifactory.datasets import find_stages
    from aifactory.launch import EvaluateTarget
    from aifactory.launch.checkpoints.checkpoint import is_line
    from aifactory.launch.checkpoints.saved import find_checkpoint, names_checkpoint
    from aifactory.namespace import Namespace
    from aifactory.spec import find_recipes, load_frozen

    ns = Namespace.of(project)
    text = ns.short(text)
    if names_checkpoint(text):
        return EvaluateTarget(find_checkpoint(text.rstrip("/"), ns))
    if is_line(text):
        return EvaluateTarget(text)
    recipes = find_recipes(project)
    if text in recipes:
        return recipes[text]
    if HASH.fullmatch(text):
        return load_frozen(ns, text).spec.hash
    stages = find_stages(project)
    if text in stages:
        return stages[text]
    raise unknown(text, [*recipes, *stages, *sorted({recipe.line for recipe in recipes.values()})])


def unknown(text: str, known: list[str]) -> FactoryError:
    """Nothing has this name."""
    from aifactory.launch.clusters.registry import close_matches

    return FactoryError(
        f"nothing here is called {text!r}",
        found=text,
        expected=close_matches(text, known),
        fix="name a recipe, a stage's key, a checkpoint, a line or the hash of a frozen spec",
        code="unknown_target",
    )
