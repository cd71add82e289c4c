"""A new run that goes on where a checkpoint of another one stands: what has to be the same for that."""

from __future__ import annotations

from collections.abc import Sequence

from aifactory.errors import FactoryError
from aifactory.launch.checkpoints.checkpoint import Trained
from aifactory.spec import InputRef, Train
from aifactory.spec.fit import RESUME

SAME = ("mix", "seed", "precision", "optimizer.weight_decay", "optimizer.betas")
"""Fields that the optimizer's state and the position in the data belong to; the gate compares the model's shape."""


def resumed_input(found: Trained, config: Train, data: Sequence[InputRef]) -> InputRef:
    """The checkpoint as the input that a training of `config` on `data` goes on from.

    Raises FactoryError, code "resume", for data, a seed, a precision or an optimizer of another kind, naming all of
    them with both values, and for a checkpoint at or after the last step.
    """
    theirs = found.spec.train
    mine = {ref.key: ref.version for ref in data}
    read = {ref.key: ref.version for ref in found.spec.inputs_of("dataset")}
    differing = [
        (name, _value(theirs.document(), name), _value(config.document(), name))
        for name in SAME
        if _value(theirs.document(), name) != _value(config.document(), name)
    ]
    differing += [
        (key, read.get(key, "none")[:16], mine.get(key, "none")[:16])
        for key in sorted({*read, *mine})
        if read.get(key) != mine.get(key)
    ]
    if differing:
        raise FactoryError(
            f"a training can't go on from {found.place} with another {', '.join(name for name, _, _ in differing)}",
            found=", ".join(f"{name}={ours}" for name, _, ours in differing),
            expected=", ".join(f"{name}={one}" for name, one, _ in differing),
            fix="leave them as they were, or begin with the weights alone: start=<line> and --pin <checkpoint>",
            code="resume",
        )
    if found.step >= config.steps:
        raise FactoryError(
            f"{found.place} has as many steps behind it as this training has in all",
            found=f"step {found.step}, steps={config.steps}",
            expected=f"more than {found.step} steps",
            fix=f"launch it with steps={2 * found.step}, or go on from an earlier checkpoint",
            code="resume",
        )
    return found.ref.evolve({"role": RESUME})


def _value(document: object, path: str) -> object:
    for name in path.split("."):
        document = document[name] if isinstance(document, dict) else None
    return document
