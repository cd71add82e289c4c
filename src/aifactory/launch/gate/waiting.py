"""Waiting for data that is on its way to a site, before the gate is asked for good."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from aifactory.launch.gate.answer import ask
from aifactory.launch.gate.gather_sites import presence_of
from aifactory.launch.gate.site_rules import DATA
from aifactory.launch.plans.plan import Plan
from aifactory.launch.runs.result import Signal
from aifactory.launch.runs.summary import GATE
from aifactory.launch.sites.presence import summary
from aifactory.launch.sites.registry import Site, get_site
from aifactory.namespace import Namespace
from aifactory.project import Project

LOOK_SECONDS = 2.0
POLL_SECONDS = 0.2


def wait_for_data(
    plan: Plan,
    directory: Path,
    *,
    ns: Namespace,
    project: Project,
    say: Callable[[str], None],
    stop: Callable[[], Signal],
) -> Signal:
    """Return "run" once all that the plan reads is at the site of its cluster, or the site's `wait_seconds` are over:
    then the gate refuses it. Any other answer of `stop` is returned at once.

    Doesn't wait where the gate has answered before, or has another reason to refuse: no data would mend that. `say`
    gets one line for each change of what is missing.
    """
    if (directory / GATE).is_file():
        return "run"
    answer = ask(plan, directory, project=project, ns=ns)
    if answer.facts is None or not answer.refusals or not {one.code for one in answer.refusals} <= DATA:
        return "run"
    site = get_site(answer.facts.site, project)
    until, told = time.monotonic() + site.wait_seconds, ""
    while text := _missing(plan, site, ns):
        left = until - time.monotonic()
        if left <= 0:
            break
        if text != told:
            more = "at most" if not told else "more"
            say(f"waits for data at the site {site.name}, {_span(left)} {more}: {text}")
            told = text
        looked = time.monotonic()
        while time.monotonic() < min(looked + LOOK_SECONDS, until):
            if (signal := stop()) != "run":
                return signal
            time.sleep(POLL_SECONDS)
    else:
        say(f"all data is at the site {site.name}")
    return "run"


def _missing(plan: Plan, site: Site, ns: Namespace) -> str:
    found = ((ref.name, presence_of(ref, plan.context, site, ns)) for ref in plan.spec.inputs)
    return summary([(name, one) for name, one in found if one is not None])


def _span(seconds: float) -> str:
    return f"{seconds / 60:.0f} min" if seconds >= 90 else f"{seconds:.0f} s"
