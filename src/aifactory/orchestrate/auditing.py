"""One Dagster step that runs checks of a stage alone, on its current snapshot, in a process of the data image."""

from __future__ import annotations

from collections.abc import Iterator

import dagster as dg

from aifactory.datasets import Stage
from aifactory.datasets.config import SNAPSHOT
from aifactory.errors import FactoryError
from aifactory.launch import CheckTarget, plan, resume, run_name
from aifactory.launch.runs.summary import RUNS
from aifactory.namespace import Key, Namespace
from aifactory.orchestrate.building import Report, label, results
from aifactory.orchestrate.guard import guarded
from aifactory.orchestrate.keys import asset_key
from aifactory.orchestrate.origin import origin_of, requester
from aifactory.orchestrate.pipes import ended_badly, failure, follow


def audit(context: dg.AssetExecutionContext, stage: Stage) -> Iterator[dg.AssetCheckResult]:
    """Run the checks that Dagster asked for and record their audits; nothing is built, nothing published.

    A red result is recorded on the version that is current, so the gate refuses its use from then on, until the check
    is green again.
    """
    names = tuple(sorted(check.name for check in context.selected_asset_check_keys))
    origin = origin_of(context.instance, context.run, context.op_def.name)
    key = Key.parse(str(stage.key))
    name = run_name("check", label(key), origin.text)
    report = Report(key)
    with guarded(Namespace.open().class_root(key.access) / RUNS / name):
        target = CheckTarget(stage, names)
        try:
            planned = resume(name) or plan(target, requester=requester(context.run), origin=origin.text)
        except FactoryError as error:
            raise failure(error) from error
        version = planned.spec.input(SNAPSHOT).version
        result = follow(context, planned, run=name, on_message=report.take)
        if not report.audits:
            raise ended_badly(result, f"checking {key}@{version[:16]}")
        yield from results(context, stage, asset_key(key), report.audits, version, result.run)
