"""What a person typed as the thing to plan: a recipe, a stage, a checkpoint, a frozen spec."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from aifactory.errors import FactoryError
from aifactory.project import Project

if TYPE_CHECKING:
    from aifactory.datasets import Stage
    from aifactory.launch import EvaluateTarget
    from aifactory.spec import Recipe

CHECKPOINT = re.compile(r"/checkpoints/step-\d{8}/?$")
HASH = re.compile(r"[0-9a-f]{64}")
HELP = (
    "A recipe (`tiny`), a stage's key (`public/icd10cm/clean`), a checkpoint (`/factory/.../checkpoints/step-00000100`)"
    " or the hash of a frozen spec."
)


def target(text: str, project: Project) -> Recipe | Stage | EvaluateTarget | str:
    """The object that `text` names. FactoryError (code "unknown_target") with close names."""
    from aifactory.datasets import find_stages
    from aifactory.launch import EvaluateTarget
    from aifactory.namespace import Namespace
    from aifactory.spec import find_recipes

    if HASH.fullmatch(text):
        return text
    if CHECKPOINT.search(text):
        ns = Namespace(project.namespace)
        return EvaluateTarget(checkpoint=ns.canonical(ns.local(text)))
    stages = find_stages(project)
    if text in stages:
        return stages[text]
    recipes = find_recipes(project)
    if text in recipes:
        return recipes[text]
    raise unknown(text, [*recipes, *stages])


def unknown(text: str, known: list[str]) -> FactoryError:
    """Nothing has this name."""
    from difflib import get_close_matches

    return FactoryError(
        f"nothing here is called {text!r}",
        found=text,
        expected=", ".join(get_close_matches(text, known, n=3, cutoff=0.5) or sorted(known)) or "a recipe or a stage",
        fix="name a recipe, a stage's key, a checkpoint's path or the hash of a frozen spec",
        code="unknown_target",
    )
