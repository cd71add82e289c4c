"""The three assets of a line of models: its checkpoints, their evaluations, and what was promoted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import dagster as dg

from aifactory.orchestrate.keys import access_of, asset_key, class_tags, group_name
from aifactory.spec import Recipe


def checkpoints_key(line: str) -> dg.AssetKey:
    """The asset of a line's checkpoints."""
    return asset_key(f"{line}/checkpoints")


def evaluations_key(line: str) -> dg.AssetKey:
    """The asset of a line's evaluations."""
    return asset_key(f"{line}/evaluations")


def by_line(recipes: Iterable[Recipe]) -> dict[str, list[Recipe]]:
    """Recipes by line, both by name."""
    lines: dict[str, list[Recipe]] = {}
    for recipe in sorted(recipes, key=lambda one: (one.line, one.name)):
        lines.setdefault(recipe.line, []).append(recipe)
    return lines


def lines_from(recipes: Mapping[str, Recipe]) -> list[dg.AssetSpec]:
    """Three assets for each line. No step of theirs is run: trainings, evaluations and promotions report on them."""
    return [spec for line, members in by_line(recipes.values()).items() for spec in _specs(line, members)]


def _specs(line: str, recipes: Sequence[Recipe]) -> list[dg.AssetSpec]:
    names = ", ".join(f"`{recipe.name}`" for recipe in recipes)
    sources = sorted({key for recipe in recipes for key in recipe.build().mix.keys})
    suites = sorted({key for recipe in recipes for key in recipe.suites})
    tags = class_tags(line)
    metadata = {"class": access_of(line), "recipes": ", ".join(recipe.name for recipe in recipes)}
    group = group_name(f"{line}/checkpoints")
    return [
        dg.AssetSpec(
            checkpoints_key(line),
            deps=[asset_key(key) for key in sources],
            description=f"Checkpoints of the line `{line}` (recipes {names}), each reported while its training runs. "
            "Made by the job `train`.",
            kinds={"checkpoint"},
            tags=tags,
            metadata=metadata,
            group_name=group,
        ),
        dg.AssetSpec(
            evaluations_key(line),
            deps=[checkpoints_key(line), *(asset_key(key) for key in suites)],
            description=f"Scores of the checkpoints of `{line}` on {len(suites)} suites. The sensor evaluates every "
            "new checkpoint; the job `evaluate` does it by hand.",
            kinds={"evaluation"},
            tags=tags,
            metadata=metadata,
            group_name=group,
        ),
        dg.AssetSpec(
            asset_key(line),
            deps=[checkpoints_key(line), evaluations_key(line)],
            description=f"The model that `{line}` stands for: one of its checkpoints, once it is promoted. Promoting "
            "publishes the checkpoint as this key's current snapshot, and materializes this asset: by the job "
            "`promote`, or `aifactory promote` in a terminal.",
            kinds={"model"},
            tags=tags,
            metadata=metadata,
            group_name=group,
        ),
    ]
