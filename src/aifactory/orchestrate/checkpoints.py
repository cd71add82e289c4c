"""Every new checkpoint gets an evaluation: what the sensor `checkpoint_evaluation` asks for."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import cache

import dagster as dg

from aifactory.errors import FactoryError
from aifactory.launch.scope import Scope
from aifactory.namespace import Namespace
from aifactory.orchestrate.automation import EVERYTHING, REQUESTER_TAG
from aifactory.orchestrate.keys import key_text, tag_value
from aifactory.orchestrate.lines import by_line, checkpoints_key
from aifactory.orchestrate.reported import value_of
from aifactory.project import Project
from aifactory.spec import Context, find_recipes

LIMIT = 25
"""Checkpoints of one line in one tick; what is left comes with the next."""


@cache
def checkpoint_assets(project: Project, scope: Scope = EVERYTHING) -> tuple[dg.AssetKey, ...]:
    """The checkpoint assets of the lines in `scope` that are scored on any suite. Recipes change only with a reload."""
    lines = by_line(find_recipes(project).values())
    return tuple(
        checkpoints_key(line)
        for line, recipes in lines.items()
        if scope.holds(line) and any(recipe.suites for recipe in recipes)
    )


def new_evaluations(
    instance: dg.DagsterInstance, cursor: str | None, assets: Sequence[dg.AssetKey], *, sensor: str
) -> tuple[list[dg.RunRequest], str]:
    """A run for each checkpoint that came after the cursor, and the new cursor (storage ids by line).

    All of them, in order, however many came between two ticks, each where its training ran. Run keys are made of the
    training run, the step and the checkpoint's digest, so a lost cursor or a tick that is played again asks for nothing
    twice.
    """
    seen: dict[str, int] = json.loads(cursor) if cursor else {}
    requests: list[dg.RunRequest] = []
    for asset in assets:
        name = key_text(asset)
        for storage_id, event in _after(instance, asset, seen.get(name, 0)):
            seen[name] = storage_id
            request = _request(event, sensor)
            if request is not None:
                requests.append(request)
    return requests, json.dumps(seen, sort_keys=True)


def _after(
    instance: dg.DagsterInstance, asset: dg.AssetKey, storage_id: int
) -> Iterator[tuple[int, dg.AssetMaterialization]]:
    wanted = dg.AssetRecordsFilter(asset_key=asset, after_storage_id=storage_id)
    for record in instance.fetch_materializations(wanted, limit=LIMIT, ascending=True).records:
        if record.asset_materialization is not None:
            yield record.storage_id, record.asset_materialization


def _request(event: dg.AssetMaterialization, sensor: str) -> dg.RunRequest | None:
    path, run, step = value_of(event, "checkpoint"), value_of(event, "run"), value_of(event, "step")
    digest = value_of(event, "digest")
    if not isinstance(path, str) or not isinstance(run, str):
        return None  # reported by hand: nothing says which files it is
    return dg.RunRequest(
        run_key=f"{run}/{step}/{str(digest)[:16]}",
        run_config={"ops": {"evaluate": {"config": {"checkpoint": path, **_place(path)}}}},
        tags={REQUESTER_TAG: sensor, "factory/training": tag_value(run), "factory/step": str(step)},
    )


def _place(path: str) -> dict[str, str]:
    """Where the training ran, unless that was this machine: there its checkpoints are."""
    run = Namespace.open().local(path).parents[1]
    try:
        context = Context.load(run / "context.json")
    except (OSError, FactoryError):
        return {}  # the run says what is wrong
    asked = {"queue": context.queue, "priority": context.priority}
    known = {name: value for name, value in asked.items() if value is not None}
    return {} if context.cluster == "local" else {"cluster": context.cluster, **known}
