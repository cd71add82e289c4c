"""The place in a queue, which is an estimate: a smaller run may pass, and a preempted one comes back before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from aifactory.launch.kuberay.observe.objects import Json, items, name_of, text

NAMED = 3
EXACT = 10


@dataclass(frozen=True)
class Place:
    """`text` for people; `state` is what has to change for a new line: beyond the tenth place only every ten count."""

    text: str
    state: str


def place(name: str, pending: Sequence[Json] | None) -> Place | None:
    """Of the RayJob `name` in the list of Kueue's visibility API; None if it isn't there."""
    line = sorted((one for one in pending or ()), key=_position)
    at = next((at for at, one in enumerate(line) if _job(one) == name), None)
    if at is None:
        return None
    # Of the whole ClusterQueue, where others stand that this list does not show.
    position = max(_position(line[at]), at) + 1
    ahead = [_named(one) for one in line[:at]]
    shown = f"about place {position} of {max(len(line), position)} in line"
    if not ahead:
        return Place(shown, _coarse(position))
    more = f" and {len(ahead) - NAMED} more" if len(ahead) > NAMED else ""
    names = ", ".join(ahead[-NAMED:][::-1])
    return Place(f"{shown}, behind {names}{more}", _coarse(position))


def _coarse(position: int) -> str:
    return str(position) if position <= EXACT else f"{-(-position // EXACT) * EXACT}"


def _position(item: Json) -> int:
    found = item.get("positionInClusterQueue", item.get("positionInLocalQueue"))
    return found if isinstance(found, int) else 0


def _job(item: Json) -> str:
    owners = items(item, "metadata", "ownerReferences")
    return text(owners[0], "name") if owners else name_of(item)


def _named(item: Json) -> str:
    priority = item.get("priority")
    return f"{_job(item)} (priority {priority})" if isinstance(priority, int) else _job(item)
