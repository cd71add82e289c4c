"""The plan of a smoke: what it trains on by the project's settings, and where it goes."""

from __future__ import annotations

from aifactory.launch.plans.plan import Plan, plan
from aifactory.launch.plans.smoke import SmokeTarget
from aifactory.launch.scope import Scope
from aifactory.launch.smoke.settings import SmokeSettings


def smoke_plan(
    settings: SmokeSettings,
    cluster: str,
    *,
    image: str | None,
    queue: str | None,
    priority: str | None,
    shape: str | None,
    requester: str,
    deadline_seconds: float | None = None,
    origin: str | None = None,
) -> Plan:
    """Queue, priority, shape and deadline that nobody names are those of the settings. Raises what `plan` does, and
    FactoryError where this location executes nothing public."""
    Scope.current().require("public", "the smoke of an image")
    place = settings.place(cluster)
    return plan(
        SmokeTarget(settings.data, settings.suites),
        cluster=cluster,
        image=image,
        queue=queue or place.queue,
        priority=priority or place.priority,
        shape=shape or place.shape,
        deadline_seconds=deadline_seconds or settings.deadline_seconds,
        requester=requester,
        origin=origin,
    )
