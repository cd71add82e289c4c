"""What a crossing reads outside of the namespace, named in its spec before anything is launched."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from aifactory.datasets.zone import CONTENT, RESTRICTED, Zone, file_of, load_secret, own_folders
from aifactory.errors import FactoryError
from aifactory.launch.refusal import GateRefused, Refusal
from aifactory.namespace.restricted import open_zone
from aifactory.project import Project
from aifactory.spec import Build


def with_zone(config: Build, project: Project) -> Build:
    """The build of a crossing with the parameter `restricted`: the keyed fingerprint of what stands in the zone, and
    the key's id. Both tell nothing of what they stand for.

    Raises GateRefused with everything that is wrong with the zone ("restricted_zone") and the key ("crossing_key").
    """
    parameters, outside = config.parameters, own_folders(project)
    refusals: list[Refusal] = []

    def kept[T](look: Callable[[], T]) -> T | None:
        try:
            return look()
        except FactoryError as error:
            values = (str(value or "") for value in (error.found, error.expected, error.fix))
            refusals.append(Refusal(error.code, error.what, *values))
            return None

    folder = kept(lambda: open_zone(str(parameters["zone"]), outside=outside))
    if folder is not None:
        for name in CONTENT:
            kept(partial(file_of, folder, parameters, name))
    secret = kept(lambda: load_secret(outside))
    seen = None
    if folder is not None and secret is not None and not refusals:
        seen = kept(Zone(folder, secret, parameters).seen)
    if seen is None:
        raise GateRefused(refusals, what=f"{config.key} can't be planned")
    return config.evolve({"parameters": {**parameters, RESTRICTED: seen}})
