"""The step of the schedule `nightly_sweep`."""

from __future__ import annotations

import dagster as dg

from aifactory.launch.scope import Scope
from aifactory.namespace import Namespace, sweep


def sweep_namespace(context: dg.OpExecutionContext) -> None:
    """Remove what killed writers left: stagings and unpublished versions older than seven days."""
    swept = sweep(Namespace.open(), of=Scope.current().access)
    for path in swept:
        context.log.info(f"removed {path}")
    context.add_output_metadata({"removed": len(swept)})
