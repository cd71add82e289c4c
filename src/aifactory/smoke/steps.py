"""The steps of the smoke, in order."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

from aifactory.channel.job import Job
from aifactory.errors import FactoryError
from aifactory.smoke.compare import checkpoints, losses, same
from aifactory.smoke.inner import Inner, first_checkpoint
from aifactory.smoke.mounts import check_limit, check_tree
from aifactory.smoke.report import Report, Step
from aifactory.spec import Evaluate, InputRef, RunSpec

NAMES = ("data", "mounts", "undisturbed", "killed", "resumed", "compared", "evaluated")
TRIES = 5
"""Trainings that are started to be killed: one may be done before the signal comes."""
UNDECLARED = "private/smoke/undeclared"


def smoke(job: Job) -> None:
    """Every step, as `aifactory.smoke.execute` says."""
    report = Report(job, NAMES)
    undisturbed = Inner(job, "undisturbed")
    with report.step("data") as step:
        data(job, step)
    with report.step("mounts") as step:
        mounts(job, step)
    with report.step("undisturbed") as step:
        train(undisturbed, step)
    with report.step("killed") as step:
        disturbed = kill(job, step)
    with report.step("resumed") as step:
        resume(disturbed, step)
    with report.step("compared") as step:
        facts = same(undisturbed.directory, disturbed.directory, job.spec.train.steps)
        step.found(f"{facts['steps']} steps and {len(facts['checkpoints'])} checkpoints are bit for bit alike", **facts)
    with report.step("evaluated") as step:
        evaluate(job, disturbed.directory, step)


def data(job: Job, step: Step) -> None:
    """Every input is here, whole, by its digests."""
    files = size = 0
    for ref in job.spec.inputs:
        snapshot = job.namespace.resolve(ref.key, ref.version)
        snapshot.verify()
        files += len(snapshot.manifest.files)
        size += sum(file.bytes for file in snapshot.manifest.files)
    step.found(f"{len(job.spec.inputs)} inputs, {files} files, {size:,} bytes: all as their digests say", bytes=size)


def mounts(job: Job, step: Step) -> None:
    """Nothing private can be read, and nothing written outside the run's directory. On `local` one user owns all of
    the tree and nothing is mounted, so there the readers' own limit is what is asked about."""
    check_limit(job.namespace, UNDECLARED)
    if job.context.cluster == "local":
        step.found("readers refuse what the spec does not name; this machine mounts nothing, so no mount was tried")
        return
    inputs = [job.namespace.resolve(ref.key, ref.version).path for ref in job.spec.inputs]
    tried = check_tree(job.namespace.root, job.directory, inputs)
    step.found(f"nothing private can be read, and none of {tried} directories outside the run's written", tried=tried)


def train(inner: Inner, step: Step) -> None:
    """A training that nobody disturbs, to its last step."""
    ended = inner.attempt()
    steps = inner.spec.train.steps
    if list(losses(inner.directory)) != list(range(1, steps + 1)):
        raise FactoryError("steps are missing", found=list(losses(inner.directory)), expected=f"1 to {steps}")
    step.found(f"{steps} steps on {inner.spec.train.parallelism.workers} workers", checkpoints=len(ended.saved))


def kill(job: Job, step: Step) -> Inner:
    """The same training, ended by SIGKILL as soon as it has a checkpoint and before it has the last one."""
    for number in range(1, TRIES + 1):
        inner = Inner(job, f"killed-{number}")
        inner.attempt(kill=first_checkpoint)
        kept = sorted(checkpoints(inner.directory))
        if kept and kept[-1] < inner.spec.train.steps:
            step.found(f"killed with {len(kept)} checkpoints, the last of step {kept[-1]}", kept=kept, tries=number)
            return inner
    raise FactoryError(
        "no training could be killed before its end",
        found=f"{TRIES} trainings that were done when the signal came",
        expected="one that is killed between its first and its last checkpoint",
        fix="make the steps longer: this machine is too fast for the smoke's training",
        code="smoke",
    )


def resume(inner: Inner, step: Step) -> None:
    """A second attempt goes on from the newest checkpoint, and not from the start."""
    before = max(checkpoints(inner.directory))
    inner.attempt()
    again = losses_of(inner.directory, 2)
    if not again or again[0] != before + 1:
        raise FactoryError(
            "the second attempt did not go on from the newest checkpoint",
            found=f"its first step was {again[0] if again else 'none'}",
            expected=f"step {before + 1}",
            fix="read the attempt's log",
            code="smoke",
        )
    step.found(f"went on from step {before} to {inner.spec.train.steps}", began=again[0])


def losses_of(directory: Path, attempt: int) -> list[int]:
    """The steps that one attempt measured, in order."""
    file = directory / "attempts" / f"{attempt:08d}" / "metrics.jsonl"
    return [json.loads(line)["step"] for line in file.read_text().splitlines()] if file.is_file() else []


def evaluate(job: Job, directory: Path, step: Step) -> None:
    """Score the last checkpoint on every suite of the spec; results stand where those of an evaluation do."""
    from aifactory.evaluate.driver import evaluate as score

    last = checkpoints(directory)[job.spec.train.steps]
    ref = InputRef(role="checkpoint", kind="checkpoint", key="public/models/smoke", version=last.digest)
    suites = job.spec.inputs_of("suite")
    if not suites:
        raise FactoryError("the spec names no suite", found="none", expected="one or more", code="no_suites")
    config = job.spec.train
    spec = RunSpec(
        kind="evaluate",
        config=Evaluate(suites=tuple(one.key for one in suites), seed=config.seed, threads=config.threads),
        inputs=(ref, *job.spec.inputs_of("tokenizer"), *suites),
        image=job.spec.image,
    )
    places = {ref.role: job.namespace.canonical(last.path)}
    score(replace(job, spec=spec, context=job.context.evolve({"places": places})))
    found = json.loads((job.directory / "results.json").read_bytes())["suites"]
    values = {f"{one['key']} {one['metric']}": one["value"] for one in found}
    if not all(math.isfinite(value) for value in values.values()):
        raise FactoryError("a score is not finite", found=values, expected="finite numbers", code="smoke")
    step.found(", ".join(f"{name} {value:.4g}" for name, value in values.items()), **values)
