"""What is built by itself, asked of Dagster's own evaluation; the steps here publish nothing, they only report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import dagster as dg
import pytest

from aifactory.orchestrate.automation import AUTOMATION, REQUESTER_TAG, automation_sensor, on_merge


class World:
    """Assets in a chain with a blocking check each, and a cursor as the daemon keeps one."""

    def __init__(self) -> None:
        self.instance = dg.DagsterInstance.ephemeral()
        self.red: set[str] = set()
        self.versions: dict[str, str] = {}
        self.chain: Sequence[str] = ("raw", "clean", "ready")
        self.code = dict.fromkeys(self.chain, "1")
        self.cursor: object = None

    def asset(self, name: str, above: str | None) -> dg.AssetsDefinition:
        key = dg.AssetKey(["public", "d", name])

        @dg.multi_asset(
            name=f"public__d__{name}",
            specs=[
                dg.AssetSpec(
                    key,
                    deps=[dg.AssetKey(["public", "d", above])] if above else [],
                    code_version=self.code[name],
                    automation_condition=on_merge(),
                )
            ],
            check_specs=[dg.AssetCheckSpec(check, asset=key, blocking=True) for check in ("files", "rows")],
            can_subset=True,
        )
        def work(context):  # type: ignore[no-untyped-def]
            asked = [check.name for check in context.selected_asset_check_keys]
            results = [dg.AssetCheckResult(passed=name not in self.red, asset_key=key, check_name=one) for one in asked]
            if not context.selected_asset_keys or name in self.red:
                yield from results
                if name in self.red and context.selected_asset_keys:
                    raise dg.Failure("red", allow_retries=False)
                return
            yield dg.MaterializeResult(
                asset_key=key, data_version=dg.DataVersion(self.versions.get(name, "1")), check_results=results
            )

        return work

    @property
    def defs(self) -> dg.Definitions:
        above: list[str | None] = [None, *self.chain[:-1]]
        return dg.Definitions(
            assets=[self.asset(name, before) for name, before in zip(self.chain, above, strict=True)],
            executor=dg.in_process_executor,
        )

    def tick(self) -> list[str]:
        """What is asked for; it is not run yet."""
        result = dg.evaluate_automation_conditions(self.defs, self.instance, cursor=self.cursor)  # type: ignore[arg-type]
        self.cursor = result.cursor
        return [name for name in self.chain if result.get_num_requested(dg.AssetKey(["public", "d", name]))]

    def run(self, names: Sequence[str]) -> bool:
        selection = [dg.AssetKey(["public", "d", name]) for name in names]
        job = self.defs.resolve_implicit_global_asset_job_def()
        return job.execute_in_process(instance=self.instance, asset_selection=selection, raise_on_error=False).success

    def settle(self) -> list[list[str]]:
        """Ticks and runs until nothing is asked for."""
        asked = []
        for _ in range(6):
            names = self.tick()
            if not names:
                return asked
            asked.append(names)
            self.run(names)
        raise AssertionError(f"it loops: {asked}")


@pytest.fixture
def world() -> Iterator[World]:
    world = World()
    yield world
    world.instance.dispose()


def test_a_new_chain_is_one_run(world: World) -> None:
    assert world.settle() == [["raw", "clean", "ready"]]


def test_a_stage_added_later_is_built_alone(world: World) -> None:
    world.chain = ("raw", "clean")
    world.settle()
    world.chain = ("raw", "clean", "ready")
    assert world.settle() == [["ready"]]


def test_new_code_builds_the_stage_and_what_follows(world: World) -> None:
    world.settle()
    world.code["clean"] = "2"
    assert world.settle() == [["clean", "ready"]]


def test_new_inputs_build_what_follows(world: World) -> None:
    world.settle()
    world.versions["raw"] = "2"
    world.run(["raw"])
    assert world.settle() == [["clean", "ready"]]


def test_a_red_check_is_asked_for_once_and_holds_back_what_follows(world: World) -> None:
    world.red = {"clean"}
    assert world.settle() == [["raw", "clean", "ready"]]
    assert world.settle() == []


def test_a_red_input_becomes_green_and_what_waited_is_built(world: World) -> None:
    world.settle()
    world.red = {"raw"}
    assert not world.run(["raw"])
    world.code["clean"] = "2"
    assert world.settle() == []
    world.red = set()
    world.run(["raw"])
    assert world.settle() == [["clean", "ready"]]


def test_a_runless_publication_with_its_checks_reaches_what_follows(world: World) -> None:
    world.settle()
    key = dg.AssetKey(["public", "d", "raw"])
    world.instance.report_runless_asset_event(dg.AssetMaterialization(key, tags={"dagster/data_version": "0"}))
    for check in ("files", "rows"):
        world.instance.report_runless_asset_event(dg.AssetCheckEvaluation(key, check, passed=True, blocking=True))
    assert world.settle() == [["clean", "ready"]]


def test_the_sensor_is_on_and_its_runs_say_that_nobody_asked() -> None:
    sensor = automation_sensor()
    assert sensor.default_status == dg.DefaultSensorStatus.RUNNING
    assert sensor.run_tags == {REQUESTER_TAG: AUTOMATION}
