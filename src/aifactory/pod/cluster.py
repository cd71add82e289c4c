"""The Ray cluster that a RayJob made for this run: joined by the driver on its head, never started by it."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from aifactory.channel import Progress, Writer
from aifactory.errors import FactoryError

WORKERS = "AIFACTORY_WORKERS"
"""How many worker pods the RayJob has; 0: the head has the resources and does the work."""
START = "AIFACTORY_START_SECONDS"
"""How long they may take to come."""
START_SECONDS = 3600.0
POLL_SECONDS = 0.5
SAY_SECONDS = 30.0
HEAD = "node:__internal_head__"


def pods() -> int:
    """Worker pods of this run's own cluster; 0 on a laptop, and where the head is alone."""
    return int(os.environ.get(WORKERS) or 0)


@contextmanager
def joined() -> Iterator[None]:
    """Be a driver of the Ray cluster that RAY_ADDRESS names, by the token that the operator gave to this pod."""
    import ray

    handlers = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    # What workers print goes to files of the attempt: it may be private, and Ray's own log is not.
    ray.init(address="auto", log_to_driver=False)
    try:
        # Ray takes SIGTERM for itself: a stop would end the process before it has said so.
        for number, handler in handlers.items():
            signal.signal(number, handler)
        yield
    finally:
        ray.shutdown()


def wait_for_pods(writer: Writer, check_stop: Callable[[], None]) -> None:
    """Until every worker pod has joined; how many have is told. KubeRay starts the driver before they are there.

    Raises FactoryError "workers_missing" when they take longer than the cluster lets a run take to start.
    """
    want, seconds = pods(), float(os.environ.get(START) or START_SECONDS)
    began, told, said = time.monotonic(), -1, 0.0
    while (there := len(workers())) < want:
        check_stop()
        now = time.monotonic()
        if now - began > seconds:
            raise FactoryError(
                "worker pods of this run did not come",
                found=f"{there} of {want} after {seconds:.0f} s",
                expected=f"{want} worker pods",
                fix="look at the pods' events in the attempt's incident.json: no node may have room for them",
                code="workers_missing",
            )
        if there != told or now - said > SAY_SECONDS:
            text = f"{there} of {want} workers are there"
            writer.send(Progress(text=text, done=there, total=want, unit="workers"))
            print(text, flush=True)
            told, said = there, now
        time.sleep(POLL_SECONDS)


def workers() -> list[dict[str, float]]:
    """The resources of each living node that isn't the head; of the head where it is alone."""
    import ray

    nodes = [dict(node["Resources"]) for node in ray.nodes() if node["Alive"]]
    return [node for node in nodes if HEAD not in node] if pods() else nodes
