"""Which stages there is something to build for, read from the records alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from aifactory.datasets import Stage
from aifactory.datasets.zone import RESTRICTED
from aifactory.errors import FactoryError
from aifactory.launch.runs.summary import find_run
from aifactory.namespace import Namespace, Publication, Publications
from aifactory.spec import RunSpec


def upstream(stages: Mapping[str, Stage], keys: Iterable[str]) -> list[str]:
    """`keys` and everything that they are made from, each after its inputs."""
    ordered: dict[str, None] = {}

    def visit(key: str) -> None:
        if key in stages and key not in ordered:
            for edge in stages[key].edges:
                visit(edge.key)
            ordered[key] = None

    for key in keys:
        visit(key)
    return list(ordered)


def by_itself(stages: Mapping[str, Stage]) -> list[str]:
    """The stages that need nobody to be built, each after its inputs: automation is on for all that they are made
    from."""
    return [key for key in upstream(stages, stages) if all(stages[one].automation for one in upstream(stages, [key]))]


def stale(ns: Namespace, stages: Mapping[str, Stage], keys: Iterable[str]) -> list[str]:
    """Those of `keys` (each after its inputs) that were never published, or from other code, parameters or inputs."""
    found: dict[str, None] = {}
    for key in keys:
        stage = stages[key]
        current = Publications(ns, key).current()
        if current is None or any(edge.key in found for edge in stage.edges) or _differs(ns, stage, current):
            found[key] = None
    return list(found)


def _differs(ns: Namespace, stage: Stage, current: Publication) -> bool:
    if current.code_version != stage.code_version:
        return True
    for edge in stage.edges:
        source = Publications(ns, edge.key).current()
        if source is None or current.inputs.get(edge.key) != source.version:
            return True
    try:
        directory = find_run(ns, current.run)
        made_by = None if directory is None else RunSpec.load(directory / "spec.json")
    except (FactoryError, OSError):
        # Whether the parameters are still the same can't be seen: the builder compares build keys, and reuses.
        return True
    if made_by is None:
        return True
    # What a crossing read is no part of how its stage is declared.
    return {name: value for name, value in made_by.build.parameters.items() if name != RESTRICTED} != stage.parameters
