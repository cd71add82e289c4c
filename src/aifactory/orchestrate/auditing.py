"""One Dagster step that runs checks of a stage alone, on its current snapshot, in a process of the data image."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import dagster as dg

from aifactory.datasets import Stage, check_config
from aifactory.datasets.config import SNAPSHOT
from aifactory.errors import FactoryError
from aifactory.launch import Plan, resume, run_name
from aifactory.launch.resolve import image_ref
from aifactory.namespace import Key, Namespace
from aifactory.orchestrate.building import Report, label, recorded, results
from aifactory.orchestrate.keys import asset_key
from aifactory.orchestrate.origin import Origin, origin_of, requester
from aifactory.orchestrate.pipes import ended_badly, failure, follow
from aifactory.project import Project
from aifactory.spec import Context, InputRef, RunSpec, config_schema, freeze, git_facts


def audit(context: dg.AssetExecutionContext, stage: Stage) -> Iterator[dg.AssetCheckResult]:
    """Run the checks that Dagster asked for and record their audits; nothing is built, nothing published.

    A red result is recorded on the version that is current, so the gate refuses its use from then on.
    """
    names = sorted(check.name for check in context.selected_asset_check_keys)
    origin = origin_of(context.instance, context.run, context.op_def.name)
    key = Key.parse(str(stage.key))
    name = run_name("check", label(key), origin.text)
    report = Report()
    try:
        planned = resume(name) or plan_checks(stage, names, asked_by=requester(context.run), origin=origin)
    except FactoryError as error:
        raise failure(error) from error
    version = planned.spec.input(SNAPSHOT).version
    result = follow(context, planned, run=name, on_message=report.take)
    if not report.audits and not result.succeeded:
        raise ended_badly(result, f"checking {key}@{version[:16]}")
    audits = {**recorded(key, version), **report.audits} if result.succeeded else report.audits
    yield from results(context, stage, asset_key(key), audits, version, result.run)


def plan_checks(stage: Stage, names: Sequence[str], *, asked_by: str, origin: Origin) -> Plan:
    """Freeze the spec that runs these checks on the stage's current snapshot. Raises FactoryError "unpublished"."""
    project, ns = Project.current(), Namespace.open()
    snapshot = ns.resolve(str(stage.key))
    spec = RunSpec(
        kind="build",
        config=check_config(stage, names),
        inputs=(InputRef(role=SNAPSHOT, kind="dataset", key=str(stage.key), version=snapshot.version),),
        image=image_ref(project, "data"),
    )
    git = git_facts(project.root)
    context = Context(
        root=str(ns.root),
        requester=asked_by,
        origin=origin.text,
        commit=git.commit,
        commit_note=git.note,
        dirty=git.dirty,
        dirty_digest=git.digest,
        config_schema=config_schema(),
    )
    path = freeze(ns, spec, context.resolution())
    return Plan(spec, context, spec.hash, path, label(str(stage.key)))
