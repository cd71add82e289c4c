"""From a spec of kind build to a published snapshot, or to red checks."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any

from aifactory.build.audit import missing, run_checks
from aifactory.build.drift import note_source
from aifactory.build.inputs import Work, build_key, held, open_inputs, verify
from aifactory.build.loading import load_stage, use
from aifactory.build.made import Made
from aifactory.build.publish import Frozen, publish, refuse_forking_again, refuse_undoing
from aifactory.channel import Job, Note
from aifactory.datasets.config import SNAPSHOT
from aifactory.datasets.report import Report, reporting
from aifactory.errors import FactoryError
from aifactory.namespace import Publication, Publications, Staging
from aifactory.namespace.access import check as check_access
from aifactory.project import Project

BUILDERS = {
    "dataset": "rows",
    "source": "source",
    "crossing": "crossing",
    "split": "split",
    "tokenizer": "tokenizer",
    "tokenize": "tokens",
    "suite": "suite",
}


def execute(job: Job) -> None:
    """Build the stage that the spec names, or (with `only_checks`) run its checks on the snapshot that it names.

    A build with the key of an earlier one is not repeated: its snapshot is checked where checks are new, and published
    again. Raises FactoryError: "red_checks" naming the checks (what was current stays current), "integrity" for an
    input that is damaged, "class" for one that this key may not hold, and what the stage's function raises.
    """
    use(Project.current())
    inputs = open_inputs(job.namespace, job.spec)
    if job.spec.build.only_checks:
        _check(job, inputs[SNAPSHOT].ref.version)
        return
    work = Work(job, load_stage(job.spec.build), inputs)
    check_access(
        work.build.access,
        {opened.ref.key: opened.snapshot.manifest.access for opened in inputs.values()},
        job.context.grants,
        output=work.build.key,
    )
    builder = importlib.import_module(f"aifactory.build.{BUILDERS[work.stage.factory]}")
    key = build_key(job.spec, builder.outside(work) if hasattr(builder, "outside") else None)
    frozen = Frozen.of(work)
    note_source(work)
    earlier = Publications(job.namespace, work.build.key).for_build(key)
    if earlier is None or not _reuse(work, earlier, key, frozen):
        _make(work, builder, key, frozen)


def _make(work: Work, builder: ModuleType, key: str, frozen: Frozen) -> None:
    job, build = work.job, work.build
    refuse_forking_again(work, key)
    verify(work.inputs)
    benchmark = build.benchmark or any(opened.snapshot.manifest.benchmark for opened in work.inputs.values())
    keys = [opened.ref.key for opened in work.inputs.values()]
    name, grants = job.directory.name, job.context.grants
    with Staging.start(job.namespace, build.key, name, inputs=keys, grants=grants) as staging, reporting() as report:
        with held(work.inputs):
            made: Made = builder.build(work, staging.path)
        job.check_stop()
        if not any(path.is_file() for path in staging.path.rglob("*")):
            raise FactoryError(
                f"{build.key}: nothing was written",
                found="no files",
                expected="at least one",
                fix=f"mend {build.function}",
                code="empty",
            )
        snapshot, _ = staging.seal(kind=build.kind, columns=made.columns, benchmark=benchmark, rows=made.rows)
    audits = run_checks(
        job.namespace, build.key, snapshot.version, build.checks, run=job.directory.name, send=job.writer.send
    )
    publish(work, snapshot, key, audits, frozen=frozen, reused=None, metadata={**_numbers(report), **made.metadata})


def _reuse(work: Work, earlier: Publication, key: str, frozen: Frozen) -> bool:
    """Publish what an earlier build with the same key made; False where its files are damaged."""
    job, build = work.job, work.build
    refuse_undoing(work, earlier)
    publications = Publications(job.namespace, build.key)
    snapshot = publications.snapshot(earlier.version)
    try:
        snapshot.verify()
    except FactoryError as error:
        job.writer.send(Note(level="warning", text=f"the earlier build is damaged and is made again. {error}"))
        return False
    asked = missing(job.namespace, build.key, earlier.version, build.checks)
    audits = run_checks(job.namespace, build.key, earlier.version, asked, run=job.directory.name, send=job.writer.send)
    publish(work, snapshot, key, audits, frozen=frozen, reused=earlier, metadata={"built_by": earlier.run})
    return True


def _check(job: Job, version: str) -> None:
    build = job.spec.build
    audits = run_checks(job.namespace, build.key, version, build.checks, run=job.directory.name, send=job.writer.send)
    red = sorted(name for name, audit in audits.items() if audit.blocking and not audit.passed)
    if red:
        raise FactoryError(
            f"{build.key}@{version[:16]}: {len(red)} blocking checks are red",
            found="; ".join(f"{name}: {audits[name].reason}" for name in red),
            expected=f"{', '.join(red)} green",
            fix="mend the stage or its input and materialize it again, or roll back",
            code="red_checks",
        )


def _numbers(report: Report) -> dict[str, Any]:
    return {"counts": dict(report.counts), "dropped": dict(report.dropped)}
