"""The code location: assets from stages, lines from recipes, jobs, schedules and sensors from their folders."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import dagster as dg

from aifactory.datasets import find_stages
from aifactory.errors import FactoryError
from aifactory.launch.clusters.registry import FILE as CLUSTERS
from aifactory.launch.clusters.registry import load_clusters
from aifactory.launch.images.pinned import load_pinned
from aifactory.launch.scope import Scope
from aifactory.launch.sites.registry import load_sites
from aifactory.orchestrate.assets import assets_from
from aifactory.orchestrate.automation import automation_sensor
from aifactory.orchestrate.elsewhere import elsewhere
from aifactory.orchestrate.folders import defined
from aifactory.orchestrate.lines import lines_from
from aifactory.project import Project
from aifactory.spec import find_recipes


def load(checkout: Path) -> dg.Definitions:
    """Everything that the project declares. `checkout` is the one that this code location stands in.

    Jobs, schedules and sensors are the checkout's; stages, checks and recipes the project's, which is the same place
    unless AIFACTORY_PROJECT names another. With AIFACTORY_LOAD only what is of that class is executed here; what it
    reads of other classes is shown. Raises FactoryError for what is wrong in any of them.
    """
    scope = Scope.current()
    project = Project.current()
    one_checkout(project, checkout)
    # All of the project is imported and compared, whatever is executed: an edge from private to public is refused here.
    stages, recipes = find_stages(project), find_recipes(project)
    places_known(project)
    scope.known([*stages, *(recipe.line for recipe in recipes.values())])
    assets: list[dg.AssetsDefinition | dg.AssetSpec] = [
        *assets_from(stage for key, stage in stages.items() if scope.holds(key)),
        *lines_from({name: recipe for name, recipe in recipes.items() if scope.holds(recipe.line)}),
    ]
    schedules = defined(checkout, "schedules", (dg.ScheduleDefinition,))
    sensors = [automation_sensor(scope), *defined(checkout, "sensors", (dg.SensorDefinition,))]
    own_names(scope, [*(one.name for one in schedules), *(one.name for one in sensors)])
    return dg.Definitions(
        assets=assets if scope.access is None else [*assets, *elsewhere(assets, stages)],
        jobs=defined(checkout, "jobs", (dg.JobDefinition,)),
        schedules=schedules,
        sensors=sensors,
        # One process for all steps of a run: a step waits for processes of its own, and a worker that comes back starts
        # the plan anew and adopts them.
        executor=dg.in_process_executor,
    )


def places_known(project: Project) -> None:
    """Read where runs can be sent, whose trees are mounted there and which images run, so that an error in these files
    is told before anybody launches. Without network. Raises FactoryError "clusters", "sites" or "images"."""
    if (project.root / CLUSTERS).is_file():
        load_clusters(project)
    load_sites(project)
    load_pinned(project)


def own_names(scope: Scope, names: Iterable[str]) -> None:
    """Refuse a sensor or schedule whose name would be the same in another location."""
    for name in names:
        if not name.endswith(scope.name("")):
            raise FactoryError(
                f"{name!r} is called alike in every code location",
                found=name,
                expected=scope.name(name),
                fix=f'name it `Scope.current().name("{name}")`, and let it look at what its scope holds only',
                code="name",
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
