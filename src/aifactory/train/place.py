"""Where the workers of a training are placed on a Ray cluster: what each asks for, and whether there is room."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from aifactory.errors import FactoryError


@dataclass(frozen=True)
class Place:
    """What Ray is asked to keep free for one worker."""

    cpus: int
    gpu: bool

    @property
    def resources(self) -> dict[str, float]:
        return {"CPU": self.cpus, "GPU": 1} if self.gpu else {"CPU": self.cpus}


def place(nodes: Sequence[dict[str, float]], workers: int, threads: int) -> Place:
    """A GPU for each worker where there are GPUs; a core for each of its `threads` where there are so many, else one.

    `nodes` are the resources of those that do the work. Raises FactoryError "no_room".
    """
    gpu = any(node.get("GPU", 0) >= 1 for node in nodes)
    for cpus in (threads, 1):
        found = Place(cpus, gpu)
        if _room(nodes, found) >= workers:
            return found
    having = ", ".join(f"{node.get('CPU', 0):g} cores and {node.get('GPU', 0):g} GPUs" for node in nodes)
    raise FactoryError(
        f"the pods of this run have room for {_room(nodes, Place(1, gpu))} of {workers} workers",
        found=having or "no pod that does work",
        expected=f"{workers} x {'one GPU and ' if gpu else ''}one core",
        fix="launch with a larger shape, or lower parallelism.data in a spec of its own",
        code="no_room",
    )


def _room(nodes: Sequence[dict[str, float]], one: Place) -> int:
    return sum(int(min(node.get(name, 0) // need for name, need in one.resources.items())) for node in nodes)
