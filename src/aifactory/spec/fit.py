"""The rules of what belongs together in one run spec: pure functions over its config and its inputs."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from aifactory.spec.config import refuse
from aifactory.spec.input_ref import InputKind, InputRef
from aifactory.spec.train import Train

RESUME = "resume"
"""The role of the checkpoint that a training goes on from, with its optimizer, generators and place in the data."""


def in_order(inputs: Sequence[InputRef]) -> tuple[InputRef, ...]:
    """The inputs sorted; one named twice is refused."""
    ordered = tuple(sorted(inputs, key=lambda one: one.order))
    for one, other in pairwise(ordered):
        if one.order[:3] == other.order[:3]:
            raise refuse(
                f"RunSpec: the input {one.role} is named twice",
                found=f"{one.name} and {other.name}",
                expected="one version",
                fix="name it once",
            )
    return ordered


def no_open_field(config: Train) -> None:
    """Refuses a training that still has a field to fill in."""
    open_fields = config.open_fields()
    if open_fields:
        raise refuse(
            "RunSpec: the config has fields that are still open",
            found=", ".join(open_fields),
            expected="every field filled in",
            fix="call Train.resolved(vocabulary) before the spec is made",
        )


def same_keys(inputs: Sequence[InputRef], kind: InputKind, keys: Sequence[str], parts: set[str | None]) -> None:
    """Refuses inputs of this kind whose keys are not exactly `keys`, or that are read from another part."""
    refs = [one for one in inputs if one.kind == kind]
    if sorted(one.key for one in refs) != sorted(keys):
        raise refuse(
            f"RunSpec: the {kind} inputs are not those that the config names",
            found=", ".join(one.key for one in refs) or "none",
            expected=", ".join(keys),
            fix="name one input for each",
        )
    for one in refs:
        if one.part not in parts:
            raise refuse(
                f"RunSpec: {one.key} would be read from a part that is not meant for this",
                found=f"part={one.part}",
                expected=" or ".join(sorted(part or "the whole" for part in parts)),
                fix="name the part that is meant for it",
            )


def exactly_one(inputs: Sequence[InputRef], *kinds: InputKind) -> None:
    """Refuses inputs unless just one is of these kinds."""
    found = [one for one in inputs if one.kind in kinds]
    if len(found) != 1:
        raise refuse(
            f"RunSpec: such a spec names one {' or '.join(kinds)}",
            found=", ".join(one.name for one in found) or "none",
            expected="exactly one",
            fix="plan it again",
        )


def started_from(inputs: Sequence[InputRef], config: Train) -> None:
    """Refuses a training whose model or checkpoint to start from is not the one that its config names, and one that
    goes on from a checkpoint (role "resume") and starts from another thing too."""
    found = [one for one in inputs if one.kind in ("model", "checkpoint")]
    resumed = [(one.role, one.kind) for one in found] == [(RESUME, "checkpoint")]
    wanted = [] if config.start is None else [config.start]
    if resumed and not wanted:
        return
    if resumed or [one.key for one in found] != wanted:
        raise refuse(
            "RunSpec: the weights to start from are not those that the config names",
            found=", ".join(one.name for one in found) or "none",
            expected=config.start or "none",
            fix="plan it again",
        )
