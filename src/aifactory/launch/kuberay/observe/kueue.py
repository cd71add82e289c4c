"""What Kueue says of an attempt: its Workload's conditions, and its silence."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal

from aifactory.launch.kuberay.observe.asked import asked, in_words, quantity, told
from aifactory.launch.kuberay.observe.objects import Json, Objects, condition, holds, one_line, part, text
from aifactory.launch.kuberay.observe.place import place
from aifactory.launch.kuberay.observe.seen import Seen, parse_time
from aifactory.launch.kuberay.scheduling import Kueue

SILENT_SECONDS = 20.0
"""Kueue answers a new RayJob within one or two seconds."""
VICTIMS = "Pending the preemption"
_SHORT = re.compile(
    r"insufficient (?P<unused>unused )?quota for (?P<resource>\S+) in flavor (?P<flavor>[^,\s]+)"
    r"(?:, (?P<more>\S+) more needed|.*?> maximum capacity \((?P<most>[^)\s]+)\))?"
)
_PREEMPTED = re.compile(r"Preempted to accommodate a workload \(.*?JobUID: (?P<uid>[^)\s]+)\) due to (?P<why>[^;]+)")
_EVICTED = {
    "Preempted": "preempted",
    "ClusterQueueStopped": "drained",
    "LocalQueueStopped": "drained",
    "ClusterQueueRestarted": "drained",
    "LocalQueueRestarted": "drained",
    "NodeFailures": "node_lost",
}


def waits(objects: Objects, now: datetime) -> Seen | None:
    """What it waits for; None if Kueue has let it go, or does not manage it."""
    queue = objects.label(Kueue.QUEUE)
    if not queue or not part(objects.rayjob, "spec").get("suspend"):
        return None
    if objects.workload is None:
        return _silent(objects, queue, now)
    reserved = condition(objects.workload, "QuotaReserved")
    since = text(reserved, "lastTransitionTime") or objects.created
    if holds(objects.workload, "QuotaReserved"):
        said = "admitted, and about to start" if holds(objects.workload, "Admitted") else "its admission checks pend"
        return _seen("kueue_admits", queue, f"has its quota; {said}", since)
    message = one_line(text(reserved, "message"))
    if part(objects.workload, "spec").get("active") is False:
        paused = text(condition(objects.workload, "Evicted"), "lastTransitionTime") or since
        return _seen("kueue_paused", queue, "paused by hand (spec.active of its Workload is false)", paused)
    if reserved.get("reason") == "Inadmissible":
        gone = message.startswith("LocalQueue") and "exist" in message
        return _seen("kueue_no_queue" if gone else "kueue_stopped", queue, message or "not admissible", since)
    if not reserved:
        return _seen("kueue_quota", queue, "Kueue has not looked at it yet", since, "new")
    return _for_quota(objects, queue, message, since)


def evicted(workload: Json | None, others: Mapping[str, str]) -> tuple[str, str, str] | None:
    """(code, Kueue's words, since) once the workload was put out after it had been admitted, also when it is admitted
    again: its entrypoint would start a second time. `others` names RayJobs by uid."""
    found, again = condition(workload, "Evicted"), condition(workload, "Requeued")
    ran = part(workload, "status").get("accumulatedPastExecutionTimeSeconds") is not None
    # A waiting workload that was paused is "evicted" too, and has no Admitted.
    if not ran and not (found.get("status") == "True" and condition(workload, "Admitted")):
        return None
    reason = text(found, "reason") if found.get("status") == "True" else text(again, "reason")
    code = _EVICTED.get(reason, "deactivated" if reason.startswith("Deactivated") else "preempted")
    message = one_line(text(found, "message").removeprefix("Previously: "))
    first = found if found.get("status") == "True" else again
    since = text(first, "lastTransitionTime") or text(found, "lastTransitionTime")
    return code, _by_whom(message, others) or f"evicted ({reason or 'no reason'})", since


def _by_whom(message: str, others: Mapping[str, str]) -> str:
    found = _PREEMPTED.search(message)
    if found is None:
        return message
    who = others.get(found["uid"], "another run")
    return f"preempted for {who} ({found['why']})"


def _silent(objects: Objects, queue: str, now: datetime) -> Seen:
    since, name = objects.created, objects.label(Kueue.PRIORITY)
    if objects.priority is False:
        said = f"the priority class {name} does not exist, so Kueue makes no Workload"
        return _seen("kueue_no_priority", queue, said, since)
    began = parse_time(since)
    if began is None or (now - began).total_seconds() < SILENT_SECONDS:
        return _seen("kueue_quota", queue, "Kueue has not looked at it yet", since, "new")
    said = f"Kueue has made no Workload of it: it is down, or knows no priority class {name or '(none is named)'}"
    return _seen("kueue_silent", queue, said, since)


def _for_quota(objects: Objects, queue: str, message: str, since: str | None) -> Seen:
    shorts = list(_SHORT.finditer(message))
    wanted = asked(objects.rayjob)
    if never := [one for one in shorts if not one["unused"]]:
        parts = {one["resource"]: one["most"] for one in never}
        said = "; ".join(
            f"asks for {_amount(name, wanted.get(name))}, and the whole quota is "
            f"{_amount(name, quantity(most)) if most else 'less'}"
            for name, most in parts.items()
        )
        return _seen("kueue_never_fits", queue, f"can never be admitted: {said}", since, *sorted(parts))
    needed: dict[str, Decimal] = {}
    for one in shorts:
        # Over the pod sets the numbers sum up: the last is the whole.
        needed[one["resource"]] = max(needed.get(one["resource"], Decimal(0)), quantity(one["more"]) or Decimal(0))
    free = {name: max(wanted.get(name, Decimal(0)) - value, Decimal(0)) for name, value in needed.items()}
    short = ", ".join(
        f"{_amount(name, free[name])} free, {told(name, value)} more needed" for name, value in needed.items()
    )
    said = f"asks for {in_words(wanted) or 'nothing'}; {short or message or 'waits for quota'}"
    code = "kueue_victims" if VICTIMS in message else "kueue_quota"
    if code == "kueue_victims":
        said += f"; {message[message.index(VICTIMS) :][0].lower()}{message[message.index(VICTIMS) + 1 :]}"
    found = place(objects.name, objects.pending)
    if found is not None:
        said += f"; {found.text}"
    return _seen(code, queue, said, since, *sorted(needed), found.state if found else "")


def _amount(name: str, value: Decimal | None) -> str:
    return "more" if value is None else told(name, value) if value else f"no {name}"


def _seen(code: str, queue: str, said: str, since: str | None, *state: str) -> Seen:
    return Seen("queued", code, f"queue {queue}: {said}", since or None, state=(queue, *state))
