"""Dagster assets and checks from stages."""

from collections.abc import Iterable, Iterator
from typing import Any

import dagster as dg

from aifactory.datasets import Stage
from aifactory.errors import FactoryError
from aifactory.namespace import Key
from aifactory.orchestrate.automation import on_merge
from aifactory.orchestrate.keys import asset_key, class_tags, group_name, op_name
from aifactory.orchestrate.versions import shown_version


def assets_from(stages: Iterable[Stage]) -> list[dg.AssetsDefinition]:
    """One asset for each stage, with its checks, which can be run alone.

    Raises FactoryError (code "definition") naming the stage for what Dagster does not take (an owner that is neither
    an address nor `team:name`, say).
    """
    return [_asset(stage) for stage in stages]


def _asset(stage: Stage) -> dg.AssetsDefinition:
    if stage.key is None:
        raise FactoryError(f"{stage.label} has no key", fix="bind it at the top of a file in assets/", code="unbound")
    key = str(stage.key)
    asset = asset_key(key)
    try:
        spec = dg.AssetSpec(
            asset,
            deps=[asset_key(edge) for edge in dict.fromkeys(edge.key for edge in stage.edges)],
            description=stage.description or None,
            metadata={"class": Key(key).access, "source": f"{stage.file}:{stage.line}"} if stage.file else None,
            group_name=group_name(key),
            code_version=shown_version(stage),
            automation_condition=on_merge() if stage.automation else None,
            owners=stage.owners,
            tags=class_tags(key),
            kinds={stage.kind, "benchmark"} if stage.benchmark else {stage.kind},
        )
        checks = [
            dg.AssetCheckSpec(check.name, asset=asset, description=check.description or None, blocking=check.blocking)
            for check in stage.checks
        ]
        return dg.multi_asset(name=op_name(key), specs=[spec], check_specs=checks, can_subset=True)(_work(stage))
    except dg.DagsterError as error:
        raise FactoryError(
            f"{stage.label} can't be defined: {error}", fix=f"correct {stage.file}:{stage.line}", code="definition"
        ) from error


def _work(stage: Stage) -> Any:
    def work(context: dg.AssetExecutionContext) -> Iterator[Any]:
        # The launcher is imported by the step, not by whoever loads the definitions.
        from aifactory.orchestrate.auditing import audit
        from aifactory.orchestrate.building import build

        yield from build(context, stage) if context.selected_asset_keys else audit(context, stage)

    return work
