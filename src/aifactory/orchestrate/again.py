"""Which plan a Dagster step launches: its own, if it was here before; its parent's, for a re-execution; a new one."""

from __future__ import annotations

from collections.abc import Callable

import dagster as dg

from aifactory.errors import FactoryError
from aifactory.launch import Plan, resume, run_name
from aifactory.launch.scope import Scope
from aifactory.orchestrate.origin import Origin, origin_of, requester
from aifactory.orchestrate.pipes import failure
from aifactory.spec import access_of


def planned(context: dg.OpExecutionContext, kind: str, label: str, fresh: Callable[[Origin], Plan]) -> tuple[str, Plan]:
    """The run's name and its plan.

    A step that comes back resolves nothing again. A person's re-execution with an unchanged config takes its parent's
    frozen spec; `fresh` resolves anew. Raises dg.Failure with the reasons.
    """
    origin = origin_of(context.instance, context.run, context.op_def.name)
    name = run_name(kind, label, origin.text)
    try:
        own = resume(name)
        if own is not None:
            context.log.info(f"run {name} goes on under its spec {own.hash[:16]}")
            return name, _ours(own)
        parent = _parent(context, kind, label, origin)
        if parent is not None:
            context.log.info(f"re-execution: the spec is its parent's, {parent.hash[:16]}; difference: none")
            again = parent.again(requester=requester(context.run), parent_run=origin.parent, origin=origin.text)
            return name, _ours(again)
        return name, _ours(fresh(origin))
    except FactoryError as error:
        raise failure(error) from error


def _ours(plan: Plan) -> Plan:
    """Refuse what another code location executes."""
    access = access_of(plan.spec, plan.context.resolution())
    Scope.current().require(access, f"{plan.kind} {plan.label}, spec {plan.hash[:16]}")
    return plan


def _parent(context: dg.OpExecutionContext, kind: str, label: str, origin: Origin) -> Plan | None:
    if origin.parent is None:
        return None
    above = context.instance.get_run_by_id(origin.parent.partition("/")[0])
    if above is None or above.run_config != context.run.run_config:
        return None
    return resume(run_name(kind, label, origin.parent))
