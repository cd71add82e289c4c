"""What every factory accepts, and how it becomes a stage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

from aifactory.datasets.checks.check import Check
from aifactory.datasets.origin import origin
from aifactory.datasets.stage import Input, Part, Stage
from aifactory.datasets.versions import factory_version
from aifactory.errors import FactoryError
from aifactory.spec import ImageName


class Common(TypedDict, total=False):
    """As in `@dataset`: its checks beside those of its kind, who owns it, and whether it builds by itself."""

    checks: Sequence[Check]
    owners: Sequence[str]
    description: str
    benchmark: bool
    automation: bool


def make(
    factory: str,
    inputs: Mapping[str, object],
    parameters: Mapping[str, Any],
    common: Common,
    *,
    image: ImageName = "data",
) -> Stage:
    """The stage of a factory, owned by the module that called it."""
    where = origin()
    given: dict[str, Input] = {}
    for role, value in inputs.items():
        if not isinstance(value, Stage | Part | str):
            raise FactoryError(
                f"{factory} in {where.file}:{where.line}: {role!r} is not a stage",
                found=type(value).__name__,
                expected="a stage, or the key of one",
                fix="give it a stage of this module, or one that is imported from another",
                code="unknown_input",
            )
        given[role] = value
    return Stage(
        factory=factory,
        origin=where,
        inputs=given,
        checks=tuple(common.get("checks", ())),
        parameters=parameters,
        benchmark=common.get("benchmark", False),
        owners=tuple(common.get("owners", ())),
        description=common.get("description", ""),
        code_version=factory_version(factory),
        automation=common.get("automation", True),
        image=image,
    )
