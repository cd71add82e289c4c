"""One Dagster step that builds one stage, through the launcher, in a process of the data image."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import dagster as dg

from aifactory.channel import Audited, Message, StageBuilt
from aifactory.channel.safe import safe
from aifactory.datasets import Stage
from aifactory.errors import FactoryError
from aifactory.launch import RunResult, plan, resume, run_name
from aifactory.launch.runs.summary import RUNS
from aifactory.namespace import Key, Namespace
from aifactory.orchestrate.audits import recorded
from aifactory.orchestrate.describe import built_metadata, check_result
from aifactory.orchestrate.guard import guarded
from aifactory.orchestrate.keys import asset_key
from aifactory.orchestrate.origin import origin_of, requester
from aifactory.orchestrate.pipes import ended_badly, failure, follow

type Event = dg.MaterializeResult[Any] | dg.AssetCheckResult


class Report:
    """What a build of `key` said so far: its snapshot and its checks. The class is the key's, whatever is said."""

    def __init__(self, key: Key) -> None:
        self._key = key
        self.built: StageBuilt | None = None
        self.audits: dict[str, Audited] = {}

    def take(self, message: Message) -> None:
        if message.method != "report_custom_message":
            return
        payload = message.payload if self._key.access == "public" else safe(message.payload)
        if isinstance(payload, StageBuilt):
            self.built = payload.model_copy(update={"key": str(self._key)})
        elif isinstance(payload, Audited):
            self.audits[payload.check] = payload


def build(context: dg.AssetExecutionContext, stage: Stage) -> Iterator[Event]:
    """Build the stage, or find it built, and tell Dagster: check results with a materialization, or a Failure.

    Dagster's materializations follow the journal. A red build yields its check results, which name the staged version,
    and materializes nothing: a materialization would move the data version, and the last good one is still current. A
    build that was superseded by a newer publication reports that one.
    """
    key = Key.parse(str(stage.key))
    origin = origin_of(context.instance, context.run, context.op_def.name)
    name = run_name("build", label(key), origin.text)
    report = Report(key)
    with guarded(Namespace.open().class_root(key.access) / RUNS / name):
        try:
            planned = resume(name) or plan(stage, requester=requester(context.run), origin=origin.text)
        except FactoryError as error:
            raise failure(error) from error
        result = follow(context, planned, run=name, on_message=report.take)
        yield from outcome(context, stage, key, report, result)


def outcome(
    context: dg.AssetExecutionContext, stage: Stage, key: Key, report: Report, result: RunResult
) -> Iterator[Event]:
    """The events of an ended build."""
    asset, built = asset_key(key), report.built
    if built is None or built.outcome == "red" or not result.succeeded:
        if built is not None:
            # A version that was red before is only asked the checks that changed.
            audits = {**recorded(Namespace.open(), key, built.version), **report.audits}
            yield from results(context, stage, asset, audits, built.version, result.run)
        raise red(key, report, result)
    version, audits = built.version, report.audits
    if built.outcome == "superseded":
        snapshot = Namespace.open().resolve(key)
        context.log.warning(
            f"{key}@{version[:16]} was superseded while it was built: {key}@{snapshot.version[:16]} stays current"
        )
        version, audits = snapshot.version, {}
        built = built.model_copy(update={"version": version, "rows": snapshot.manifest.rows})
    audits = {**recorded(Namespace.open(), key, version), **audits}
    yield dg.MaterializeResult(
        asset_key=asset,
        data_version=dg.DataVersion(version),
        metadata=built_metadata(built, run=result.run, directory=result.directory),
        check_results=list(results(context, stage, asset, audits, version, result.run)),
    )


def results(
    context: dg.AssetExecutionContext,
    stage: Stage,
    asset: dg.AssetKey,
    audits: dict[str, Audited],
    version: str,
    run: str,
) -> Iterator[dg.AssetCheckResult]:
    """One result for each check that Dagster asked for; all of them ran, whatever it asked for."""
    asked = {check.name for check in context.selected_asset_check_keys}
    for check in stage.checks:
        if check.name in asked:
            yield check_result(
                asset, check.name, audits.get(check.name), blocking=check.blocking, version=version, run=run
            )


def red(key: Key, report: Report, result: RunResult) -> dg.Failure:
    """Why nothing was published."""
    at_fault = [audit for audit in report.audits.values() if audit.blocking and not audit.passed]
    if report.built is None or not at_fault:
        return ended_badly(result, f"the build of {key}")
    reasons = "\n".join(f"  {audit.check}: {audit.reason or 'failed'}" for audit in at_fault)
    staged = f"{key}@{report.built.version[:16]}"
    return dg.Failure(
        description=f"{staged} is not published, what was current stays current. Blocking checks failed:\n{reasons}",
        metadata={
            "staged_version": report.built.version,
            "failed_checks": ", ".join(sorted(audit.check for audit in at_fault)),
            "run": result.run,
            "run_directory": dg.MetadataValue.path(str(result.directory)),
        },
        allow_retries=False,
    )


def label(key: Key | str) -> str:
    """How the run of a build is called: the last two segments of its key."""
    return "-".join(str(key).split("/")[-2:])
