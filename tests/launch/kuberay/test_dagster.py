"""A Dagster step that follows a run on a cluster: its lines are the step's, and a cancel leaves nothing."""

import dagster as dg
import pytest

from aifactory.launch import Attempts, Plan
from aifactory.orchestrate.pipes import follow
from tests.launch.kuberay.flight import Flight

pytestmark = pytest.mark.cluster


def followed(flight: Flight, plan: Plan, instance: dg.DagsterInstance, cancel: bool) -> dg.ExecuteInProcessResult:
    @dg.op
    def launches(context: dg.OpExecutionContext) -> None:
        def take(message: object) -> None:
            if cancel:
                run = instance.get_run_by_id(context.run_id)
                assert run is not None
                instance.report_run_canceling(run)

        assert follow(context, plan, run=flight.run, on_message=take).succeeded

    @dg.job
    def launching() -> None:
        launches()

    return launching.execute_in_process(instance=instance, raise_on_error=False)


@pytest.mark.parametrize("cancel", [False, True])
def test_a_step_tells_each_change_and_its_cancel_ends_the_run(
    flight: Flight, monkeypatch: pytest.MonkeyPatch, cancel: bool
) -> None:
    for name in ("AIFACTORY_PROJECT", "AIFACTORY_STATE", "AIFACTORY_ENVS", "AIFACTORY_ROOT"):
        monkeypatch.setenv(name, flight.lab.environment[name])
    with dg.DagsterInstance.ephemeral() as instance:
        plan = flight.plan("wait", seconds=60.0 if cancel else 4.0)
        result = followed(flight, plan, instance, cancel)
        assert result.success != cancel
        lines = [str(entry.user_message) for entry in instance.all_logs(result.run_id)]
    assert any("starting since" in line for line in lines)
    assert any("is made" in line for line in lines)
    assert [one.outcome for one in Attempts(flight.directory).all()] == ["cancelled" if cancel else "succeeded"]
    assert flight.left() == []
