"""The code location: assets from stages, lines from recipes, jobs, schedules and sensors from their folders."""

from __future__ import annotations

from pathlib import Path

import dagster as dg

from aifactory.datasets import find_stages
from aifactory.errors import FactoryError
from aifactory.orchestrate.assets import assets_from
from aifactory.orchestrate.automation import automation_sensor
from aifactory.orchestrate.folders import defined
from aifactory.orchestrate.lines import lines_from
from aifactory.project import Project
from aifactory.spec import find_recipes


def load(checkout: Path) -> dg.Definitions:
    """Everything that the project declares. `checkout` is the one that this code location stands in.

    Jobs, schedules and sensors are the checkout's; stages, checks and recipes the project's, which is the same place
    unless AIFACTORY_PROJECT names another. Raises FactoryError for what is wrong in any of them.
    """
    project = Project.current()
    one_checkout(project, checkout)
    stages = find_stages(project)
    return dg.Definitions(
        assets=[*assets_from(stages.values()), *lines_from(find_recipes(project))],
        jobs=defined(checkout, "jobs", (dg.JobDefinition,)),
        schedules=defined(checkout, "schedules", (dg.ScheduleDefinition,)),
        sensors=[automation_sensor(), *defined(checkout, "sensors", (dg.SensorDefinition,))],
        # One process for all steps of a run: a step waits for processes of its own, and a worker that comes back starts
        # the plan anew and adopts them.
        executor=dg.in_process_executor,
    )


def one_checkout(project: Project, checkout: Path) -> None:
    """Refuse machinery that is imported from another checkout than the definitions: their runs would mix two codes."""
    machinery = project.package.parents[1]
    if machinery.resolve() != checkout.resolve():
        raise FactoryError(
            "the definitions and the machinery are of two checkouts of this project",
            found=f"definitions from {checkout}, aifactory from {machinery}",
            expected="one checkout",
            fix=f"run `make` in {checkout}, whose environments are its own, or unset PYTHONPATH and VIRTUAL_ENV",
            code="second_checkout",
        )
