"""Two trainings bit for bit: their checkpoints by digest and file, their losses by every digit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from aifactory.errors import FactoryError
from aifactory.train.checkpoint import Checkpoint, open_checkpoint

MOVES = ("seconds", "tokens_per_second")
"""What no two runs have in common."""


def checkpoints(directory: Path) -> dict[int, Checkpoint]:
    """The verified checkpoints of a run, by step. FactoryError as `open_checkpoint` for one that is damaged."""
    found = [open_checkpoint(path) for path in sorted((directory / "checkpoints").glob("step-*"))]
    return {one.step: one for one in found}


def losses(directory: Path) -> dict[int, dict[str, Any]]:
    """What was measured at each step, of all attempts of a run: a later one counts where two did the same step."""
    rows: dict[int, dict[str, Any]] = {}
    for file in sorted((directory / "attempts").glob("*/metrics.jsonl")):
        for line in file.read_text().splitlines():
            if not line.endswith("}"):
                continue  # the last line of one that was killed
            row = json.loads(line)
            rows[row["step"]] = {name: value for name, value in row.items() if name not in MOVES}
    return rows


def same(undisturbed: Path, resumed: Path, steps: int) -> dict[str, Any]:
    """What both have alike. FactoryError, code "differs", naming the first thing that is not: a checkpoint and its
    files, or a figure of a step."""
    one, other = checkpoints(undisturbed), checkpoints(resumed)
    if one.keys() != other.keys() or steps not in one:
        raise _differ("the steps of their checkpoints", sorted(one), sorted(other))
    for step in sorted(one):
        if one[step].digest != other[step].digest:
            raise _differ(f"the checkpoint of step {step}", *_files(one[step], other[step]))
    mine, theirs = losses(undisturbed), losses(resumed)
    if list(mine) != list(range(1, steps + 1)):
        raise _differ("the steps that were measured", f"1 to {steps}", sorted(mine))
    for step, row in sorted(theirs.items()):
        if row != mine.get(step):
            names = [name for name in row if row[name] != mine.get(step, {}).get(name)]
            raise _differ(f"{', '.join(names)} of step {step}", mine.get(step), row)
    return {
        "checkpoints": {str(step): one[step].digest for step in sorted(one)},
        "steps": len(theirs),
        "loss": mine[steps]["loss"],
    }


def _files(one: Checkpoint, other: Checkpoint) -> tuple[str, str]:
    """What differs in two checkpoints, as both have it."""
    mine, theirs = ({file["path"]: file["sha256"] for file in each.content["files"]} for each in (one, other))
    names = [name for name in sorted({*mine, *theirs}) if mine.get(name) != theirs.get(name)]
    if not names:
        rest = [name for name in one.content if one.content[name] != other.content.get(name)]
        return tuple(", ".join(f"{name}={each.content.get(name)}" for name in rest) for each in (one, other))  # type: ignore[return-value]
    return tuple(", ".join(f"{name} {each.get(name, 'none')[:16]}" for name in names) for each in (mine, theirs))  # type: ignore[return-value]


def _differ(what: str, found: object, expected: object) -> FactoryError:
    return FactoryError(
        f"the resumed training is not the undisturbed one: {what}",
        found=expected,
        expected=found,
        fix="the image does not resume bit for bit here: compare both runs in the smoke's directory",
        code="differs",
    )
