"""Waiting for data that is on its way to a site: before the gate is asked for good, and before a later attempt."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from aifactory.launch.backend import Interrupted
from aifactory.launch.clusters.kube import HERE
from aifactory.launch.gate.answer import ask
from aifactory.launch.gate.gather_sites import presence_of
from aifactory.launch.gate.site_rules import DATA
from aifactory.launch.plans.placing import site_of
from aifactory.launch.plans.plan import Plan
from aifactory.launch.refusal import GateRefused
from aifactory.launch.runs.result import Signal
from aifactory.launch.runs.summary import GATE
from aifactory.launch.sites.presence import Presence
from aifactory.launch.sites.registry import Site, get_site, load_sites
from aifactory.namespace import Namespace
from aifactory.project import Project

LOOK_SECONDS = 2.0
POLL_SECONDS = 0.2


@dataclass(frozen=True)
class DataWait:
    """Waits at the site of a plan's cluster, at most its `wait_seconds`. `say` gets one line for each change of what is
    missing; any answer of `stop` but "run" ends the wait. No wait is for data of a site that nobody here sees."""

    plan: Plan
    directory: Path
    ns: Namespace
    project: Project
    say: Callable[[str], None]
    stop: Callable[[], Signal]

    def before_the_gate(self) -> None:
        """Return when all that the plan reads is there, or the time is over: then the gate refuses it. At once where
        the gate has answered before, or has another reason to refuse, which no data would mend. Raises Interrupted."""
        if (self.directory / GATE).is_file():
            return
        answer = ask(self.plan, self.directory, project=self.project, ns=self.ns)
        if answer.facts is not None and answer.waits:
            self._wait(get_site(answer.facts.site, self.project))

    def before_a_later_attempt(self) -> None:
        """The gate's answer stands, but a site may have lost what it had. Raises Interrupted, and GateRefused for what
        is not whole again in time."""
        site = load_sites(self.project).get(site_of(self.plan.context, self.project))
        if site is None or site.name == HERE or not _missing(self._look(site)):
            return
        self._wait(site)
        answer = ask(self.plan, self.directory, project=self.project, ns=self.ns)
        if lost := [one for one in answer.refusals if one.code in DATA]:
            raise GateRefused(lost, what=f"what this run reads is no longer whole at the site {site.name}")

    def _wait(self, site: Site) -> None:
        until, told = time.monotonic() + site.wait_seconds, ""
        while text := _missing(found := self._look(site)):
            left = until - time.monotonic()
            if left <= 0:
                return
            if text != told:
                how = "more" if told else "at most"
                self.say(f"waits for data at the site {site.name}, {_span(left)} {how}: {text}")
                told = text
            look = min(time.monotonic() + LOOK_SECONDS, until)
            while time.monotonic() < look:
                if (signal := self.stop()) != "run":
                    raise Interrupted(signal)
                time.sleep(POLL_SECONDS)
        if all(one.whole for _, one in found):
            self.say(f"all data is at the site {site.name}")

    def _look(self, site: Site) -> list[tuple[str, Presence]]:
        refs = self.plan.spec.inputs
        found = ((ref.name, presence_of(ref, self.plan.context, site, self.ns)) for ref in refs)
        return [(name, one) for name, one in found if one is not None]


def _missing(found: list[tuple[str, Presence]]) -> str:
    """What may still come, for one line."""
    return ", ".join(f"{name} {one.found}" for name, one in found if one.state in ("absent", "stale"))


def _span(seconds: float) -> str:
    return f"{seconds / 60:.0f} min" if seconds >= 90 else f"{seconds:.0f} s"
