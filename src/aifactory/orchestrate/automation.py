"""When a stage is built by itself."""

from __future__ import annotations

from functools import cache

import dagster as dg

from aifactory.launch.scope import Scope

REQUESTER_TAG = "factory/requester"
AUTOMATION = "automation"
EVERYTHING = Scope()


@cache
def on_merge() -> dg.AutomationCondition[dg.AssetKey]:
    """Missing, another code version or newer inputs: build, once the inputs' blocking checks passed.

    `eager()` and `on_missing()` request nothing for an asset whose file was added later, nor for a new code version,
    and neither looks at checks. `any_deps_updated` sees checks of the inputs only through the last operand. That one
    lets an input pass which is itself requested in this tick: a whole new chain is then one run, in which the blocking
    checks gate. Dagster's `all_deps_blocking_checks_passed` would ask for the checks to be requested too, which they
    are only by implication where they can be run alone, so it would build a chain one stage per run.
    """
    a = dg.AutomationCondition
    wanted = (
        (a.initial_evaluation() & a.missing())
        | a.missing().newly_true()
        | a.code_version_changed()
        | a.any_deps_updated()
    ).since(a.newly_requested() | a.newly_updated())
    inputs_are_good = a.all_deps_match(
        a.will_be_requested() | a.all_checks_match(a.check_passed() | a.will_be_requested(), blocking_only=True)
    )
    condition = wanted & ~a.any_deps_missing() & ~a.any_deps_in_progress() & ~a.in_progress() & inputs_are_good
    return condition.with_label("missing, new code or new inputs; inputs green")


def automation_sensor(scope: Scope = EVERYTHING) -> dg.AutomationConditionSensorDefinition:
    """The sensor that evaluates the conditions of what this location executes, on from the start. Its runs say that no
    person asked for them."""
    return dg.AutomationConditionSensorDefinition(
        scope.name("default_automation_condition_sensor"),
        target=dg.AssetSelection.all(),
        default_status=dg.DefaultSensorStatus.RUNNING,
        minimum_interval_seconds=5,
        run_tags={REQUESTER_TAG: AUTOMATION},
    )
