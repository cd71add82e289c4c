"""What KAI says of an attempt: its PodGroup's conditions and evictions.

A condition may be older than the pods' start, so it counts only while a pod has no node.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from aifactory.launch.kuberay.observe.asked import asked, in_words, pods_asked, quantity, told
from aifactory.launch.kuberay.observe.objects import Json, Objects, items, one_line, part, text, when
from aifactory.launch.kuberay.observe.seen import Seen, parse_time

QUEUE = "kai.scheduler/queue"
EVICTED_AT = "kai.scheduler/last-eviction-timestamp"
_CODES = {
    "OverLimit": "kai_over_limit",
    "NonPreemptibleOverQuota": "kai_over_quota",
    "QueueDoesNotExist": "kai_no_queue",
    "PreemptionDelayNotElapsed": "kai_delay",
}
_ROOM = {"kai_over_limit": "queueResourceLimits", "kai_over_quota": "queueDeservedResources"}
_USED = {"kai_over_limit": "queueAllocatedResources", "kai_over_quota": "queueAllocatedNonPreemptibleResources"}


def waits(objects: Objects, placed: int) -> Seen | None:
    """What the gang waits for, of which `placed` pods have a node; None without a queue of KAI."""
    queue = objects.label(QUEUE)
    if not queue:
        return None
    found = _newest(objects.podgroup)
    reasons = items(found, "reasons")
    first = next((one for one in reasons if one.get("reason") in _CODES), reasons[0] if reasons else {})
    code = _CODES.get(text(first, "reason"), "kai_waits")
    wanted = asked(objects.rayjob)
    said = [f"queue {queue}: asks for {in_words(wanted) or 'nothing'} on {pods_asked(objects.rayjob)} pods"]
    if placed:
        said.append(f"{placed} of them have a node")
    if room := _room(code, first):
        said.append(room)
    # Only what has numbers of its own is told by them; anything else in KAI's words.
    elif message := text(first, "message") or text(found, "message"):
        said.append(one_line(message))
    elif not found:
        said.append("KAI has not said why it waits")
    since = text(found, "lastTransitionTime") or objects.created
    return Seen("queued", code, "; ".join(said), since, state=(queue, str(placed)))


def evicted(objects: Objects) -> tuple[str, str, str] | None:
    """(code, what happened, since) if KAI has taken pods of this attempt away."""
    events = objects.of("PodGroup", "Evict")
    at = str(part(objects.podgroup, "metadata", "annotations").get(EVICTED_AT) or "")
    if not events and not _later(at, objects.created):
        return None
    last = events[-1] if events else {}
    notes = part(last, "metadata", "annotations")
    action = str(notes.get("evictor-action-type") or "")
    by = str(notes.get("evictor-pod-group-name") or "")
    said = f"KAI took its pods away ({action or 'evict'}{f' for {by}' if by else ''})"
    return "gang_stale" if "stale" in action.lower() else "preempted", said, when(last) or at


def _newest(podgroup: Json | None) -> Json:
    found = [
        one
        for one in items(podgroup, "status", "schedulingConditions")
        if one.get("type") == "UnschedulableOnNodePool" and one.get("status", "True") == "True"
    ]
    return max(found, key=lambda one: text(one, "lastTransitionTime"), default={})


def _room(code: str, reason: Json) -> str:
    details = part(reason, "details", "queueDetails")
    if code not in _ROOM or not details:
        return ""
    shorts = list(_shorts(details, _ROOM[code], _USED[code]))
    what = "limit" if code == "kai_over_limit" else "quota"
    return f"the queue's {what} leaves {', '.join(shorts)}" if shorts else ""


def _shorts(details: Json, room: str, used: str) -> Iterator[str]:
    for name, most in part(details, room).items():
        have = quantity(most)
        taken = quantity(part(details, used).get(name, 0)) or Decimal(0)
        need = quantity(part(details, "podGroupRequestedResources").get(name, 0)) or Decimal(0)
        if have is not None and 0 <= have < taken + need:
            free = max(have - taken, Decimal(0))
            yield f"{told(name, free)} of {told(name, have)}, {told(name, need)} are asked"


def _later(at: str, created: str | None) -> bool:
    evicted_at, began = parse_time(at), parse_time(created)
    return evicted_at is not None and (began is None or evicted_at >= began)
