"""The command inside the test's own process: a tenth of the time of a process, for tests of what it says and does."""

from __future__ import annotations

import contextlib
import io
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from aifactory.cli import main
from aifactory.launch import EvaluateTarget, Plan, plan
from aifactory.namespace import Namespace, Snapshot
from tests.cli.conftest import Answer
from tests.launch.published import BPE, READY, SUITE, publish, publish_all
from tests.launch.saved import LINE, put_run, save
from tests.orchestrate.lab import Lab, make

RUN = "train-tiny-0123456789ab"
RECIPES = f'''
from aifactory.spec import GPT, Mix, Train, recipe


@recipe(line="{LINE}", suites=["{SUITE}"])
def tiny() -> Train:
    return Train(model=GPT(layers=1, hidden=8, heads=2, context=16), mix=Mix.of({{"{READY}": 1.0}}), steps=4)


@recipe(line="{LINE}", suites=["{SUITE}"])
def further() -> Train:
    return tiny().evolve({{"start": "{LINE}"}})


@recipe(line="public/models/other", suites=["{SUITE}"])
def other() -> Train:
    return tiny().evolve({{"start": "public/models/other"}})
'''


@dataclass(frozen=True)
class Inside:
    """A lab whose data is published, with recipes; `made` has the snapshots by key."""

    lab: Lab
    made: dict[str, Snapshot]
    patch: pytest.MonkeyPatch

    @property
    def ns(self) -> Namespace:
        return self.lab.namespace

    def __call__(self, *arguments: str) -> Answer:
        """`aifactory <arguments>`."""
        self.patch.setattr(sys, "argv", ["aifactory", *arguments])
        out, err, code = io.StringIO(), io.StringIO(), 0
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                main()
            except SystemExit as ended:
                code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
        return Answer(code, out.getvalue(), err.getvalue())

    def train(self, run: str = RUN, steps: tuple[int, ...] = (3,), weights: str = "weights", **options: object) -> Plan:
        """A training of `tiny`, as it leaves its directory with these checkpoints."""
        planned = plan("tiny", **options)  # type: ignore[arg-type]
        for step in steps:
            save(self.ns, planned, run, step, weights=f"{weights} {step}")
        return planned

    def move_on(self) -> None:
        """Newer versions of the data and the suite that `tiny` reads."""
        files = {"train/b.bin": "b", "val/b.bin": "b", "test/b.bin": "b"}
        publish(self.ns, READY, "tokens", files, inputs={BPE: self.made[BPE].version}, checks={"integrity": True})
        publish(self.ns, SUITE, "suite", {"test/items": "other items"})

    def evaluated(self, target: str, run: str) -> Plan:
        """An evaluation of the target, as it leaves its directory."""
        planned = plan(EvaluateTarget(target))
        put_run(planned, run)
        return planned


def start(root: Path, patch: pytest.MonkeyPatch) -> Inside:
    """A new lab under `root`, made the current project."""
    lab = make(root, patch)
    patch.setenv("COLUMNS", "200")
    lab.write("recipes/lines.py", RECIPES)
    return Inside(lab, publish_all(lab.namespace), patch)
