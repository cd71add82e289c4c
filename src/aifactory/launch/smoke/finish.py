"""What follows a smoke: the proof of a green one, and what is known of a red one."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aifactory.errors import FactoryError
from aifactory.launch.gate.rules import PINNED
from aifactory.launch.images.verifications import Verification, record, verifications
from aifactory.launch.notify.notice import Notice, of_run
from aifactory.launch.plans.plan import Plan
from aifactory.launch.runs.result import RunResult
from aifactory.launch.smoke.known import IMAGE, pinned
from aifactory.launch.smoke.settings import SmokeSettings
from aifactory.namespace import Namespace
from aifactory.project import Project

REPORT = "report.json"


@dataclass(frozen=True)
class Step:
    """One step of the smoke as its report has it: `outcome` is "green", "red" or "not reached"."""

    name: str
    outcome: str
    seconds: float = 0.0
    text: str = ""
    facts: dict[str, Any] = field(default_factory=dict)


def steps_of(directory: Path) -> list[Step]:
    """The steps in the report of the run in `directory`; none where it has written no report."""
    try:
        report = json.loads((directory / REPORT).read_bytes())
        return [Step(**step) for step in report["steps"]]
    except (OSError, ValueError, KeyError, TypeError):
        return []


def oci_of(plan: Plan, project: Project) -> str:
    """The digest that this plan's cluster pulls; empty on this machine. FactoryError, code "image_not_pinned", where
    no image is pinned, or another one than is to be smoked."""
    if plan.context.cluster == "local":
        return ""
    if plan.context.image_reference is not None and (named := PINNED.search(plan.context.image_reference)):
        return named[1]  # what images.toml said of this very image when it was planned
    digest, oci = pinned(project)
    if digest != plan.spec.image.digest:
        raise FactoryError(
            "images.toml pins another image than the one to be smoked",
            found=plan.spec.image.digest,
            expected=digest,
            fix="leave the image out, or pin it in images.toml",
            code="image_not_pinned",
        )
    return oci


def prove(plan: Plan, result: RunResult, version: int, *, ns: Namespace, project: Project) -> Verification:
    """Record that the run, which succeeded, proves the image on its cluster; once, whoever comes back.

    Raises FactoryError, code "smoke_report", unless every step of its report is green: an exit code alone proves
    nothing; "image_not_pinned" as `oci_of`.
    """
    steps = steps_of(result.directory)
    if not steps or any(step.outcome != "green" for step in steps):
        raise FactoryError(
            f"the smoke {result.run} succeeded, but its report does not say so",
            found=", ".join(f"{step.name} {step.outcome}" for step in steps) or f"no {REPORT}",
            expected="every step green",
            fix="smoke the image again",
            code="smoke_report",
        )
    oci = oci_of(plan, project)
    one = Verification(plan.spec.image.digest, oci, result.run, plan.context.cluster, smoke=version)
    if not any((known.run, known.digest) == (one.run, one.digest) for known in verifications(ns, IMAGE)):
        record(ns, "public", IMAGE, one)
    return one


def red(plan: Plan, run: str, result: RunResult | None, why: str, settings: SmokeSettings, *, link: str = "") -> Notice:
    """What the owners are told of a smoke that proved nothing; without a result it was never launched."""
    title = f"the smoke of image {plan.spec.image.digest[:16]} is red on {plan.context.cluster}"
    if result is None:
        return Notice(title, why, link, settings.owners, {"run": run, "outcome": "refused"})
    text = "\n".join([why, *(f"{step.name}: {step.outcome}" for step in steps_of(result.directory))])
    return of_run(result, "public", title, text=text, link=link, owners=settings.owners)
