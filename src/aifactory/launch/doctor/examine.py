"""All that the doctor asks a cluster, in the order in which things fail."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from aifactory.errors import FactoryError
from aifactory.launch.clusters.kube import KubeCluster
from aifactory.launch.doctor import access, kuberay, queues, reach, room
from aifactory.launch.doctor.line import Line, broken
from aifactory.launch.doctor.seen import Sample, seen
from aifactory.launch.kuberay.api import Api


def examine(
    cluster: KubeCluster, *, image: str | None = None, samples: Mapping[str, Sample] | None = None
) -> Iterator[Line]:
    """The lines, each as soon as it is known. What can't be asked, since something before it is broken, is left out,
    and said so. With an `image` (an OCI reference), pods look at the mounts, for a sample of each class. Never raises a
    FactoryError."""
    try:
        api = Api.open(cluster)
    except FactoryError as error:
        yield broken("server", error)
        return
    try:
        last = None
        for line in _guarded("server", lambda: reach.reach(api)):
            last = line.name, line.state
            yield line
        if last is None or last != ("token", last[1]) or last[1] == "broken":
            yield Line("rest", "note", "not looked at, since the server doesn't answer us")
            return
        for name, ask in _questions(api):
            yield from _guarded(name, ask)
        if image is not None:
            yield from _guarded("site", lambda: seen(api, image, samples or {}))
    finally:
        api.close()


def _questions(api: Api) -> Iterable[tuple[str, Callable[[], Iterable[Line]]]]:
    yield "namespace", lambda: [access.namespace(api)]
    yield "rights", lambda: access.rights(api)
    yield "accounts", lambda: access.accounts(api)
    yield "kuberay", lambda: kuberay.kinds(api)
    yield "operator", lambda: kuberay.operator(api)
    yield "queues", lambda: queues.queues(api)
    yield "volumes", lambda: room.volumes(api)
    yield "shapes", lambda: room.shapes(api)


def _guarded(name: str, ask: Callable[[], Iterable[Line]]) -> Iterator[Line]:
    try:
        yield from ask()
    except FactoryError as error:
        yield broken(name, error)
