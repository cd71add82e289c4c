"""Assets that another code location executes, as this one shows them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import dagster as dg

from aifactory.datasets import Stage
from aifactory.launch.scope import Scope
from aifactory.orchestrate.keys import access_of, asset_key, class_tags, group_name, key_text


def elsewhere(assets: Iterable[dg.AssetsDefinition | dg.AssetSpec], stages: Mapping[str, Stage]) -> list[dg.AssetSpec]:
    """A spec without execution for each asset that one of `assets` reads and none of them is.

    It has the edge, the class, and the location that builds it, and no condition and no checks: Dagster takes those
    from the location that has them, so nothing is built twice.
    """
    specs = [spec for one in assets for spec in (one.specs if isinstance(one, dg.AssetsDefinition) else [one])]
    own = {spec.key for spec in specs}
    read = {dep.asset_key for spec in specs for dep in spec.deps} - own
    return [_spec(key_text(key), stages.get(key_text(key))) for key in sorted(read)]


def _spec(key: str, stage: Stage | None) -> dg.AssetSpec:
    access = access_of(key)
    location = Scope(access).location
    metadata = {"class": access, "location": location}
    if stage is not None and stage.file:
        metadata["source"] = f"{stage.file}:{stage.line}"
    return dg.AssetSpec(
        asset_key(key),
        description=(stage.description if stage is not None else None) or f"Built by the code location {location}.",
        metadata=metadata,
        group_name=group_name(key),
        owners=stage.owners if stage is not None else None,
        tags=class_tags(key),
        kinds={stage.kind} if stage is not None else None,
    )
