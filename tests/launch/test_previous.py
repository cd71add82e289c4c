"""Which run a training is compared with. No training happens here."""

from __future__ import annotations

from pathlib import Path

import pytest

from aifactory.launch import Attempts, Outcome, Plan, plan, run_name
from aifactory.launch.previous import previous_training
from aifactory.spec import Recipe, Train
from tests.launch.lab import Lab
from tests.launch.published import RECIPE, publish_all, tiny


def wide() -> Train:
    return tiny().evolve({"model.hidden": 16})


WIDE = Recipe(function=wide, line="public/models/tiny", scored_on=RECIPE.scored_on, compared_with="tiny")


def ran(planned: Plan, name: str, outcome: Outcome | None = "succeeded") -> Path:
    """The directory of a run that was started and has ended so."""
    directory = planned.class_root / "runs" / name
    directory.mkdir(parents=True)
    (directory / "spec.json").write_bytes(planned.spec.to_bytes())
    (directory / "context.json").write_bytes(planned.context.to_bytes())
    attempts = Attempts(directory)
    attempts.start(backend="local", spec=planned.hash, writer="test", after=None)
    if outcome is not None:
        attempts.end(1, outcome, writer="test")
    return directory


@pytest.fixture
def built(lab: Lab) -> Lab:
    publish_all(lab.ns)
    return lab


def planned(lab: Lab, recipe: Recipe, origin: str = "somewhere/train") -> Plan:
    return plan(recipe, project=lab.project, ns=lab.ns, origin=origin)


def test_the_first_of_its_line_is_compared_with_nothing(built: Lab) -> None:
    new = planned(built, RECIPE)
    assert previous_training(built.ns, new, "train-tiny-000000000001") is None
    ran(new, "train-tiny-000000000002", "failed_code")
    ran(new, "train-tiny-000000000003", None)
    assert previous_training(built.ns, new, "train-tiny-000000000001") is None


def test_the_newest_successful_run_of_the_line_comes_last(built: Lab) -> None:
    for number, outcome in enumerate(("succeeded", "succeeded", "failed_code"), 1):
        ran(planned(built, RECIPE), f"train-tiny-00000000000{number}", outcome)
    found = previous_training(built.ns, planned(built, RECIPE), "train-tiny-000000000009")
    assert found is not None
    assert found.directory.name == "train-tiny-000000000002"
    assert "newest successful run of the line public/models/tiny" in found.why


def test_the_baseline_goes_before_the_line_and_the_parent_before_both(built: Lab) -> None:
    ran(planned(built, RECIPE), "train-tiny-000000000001", "failed_code")
    ran(planned(built, WIDE), "train-wide-000000000002")
    new = planned(built, WIDE)
    found = previous_training(built.ns, new, "train-wide-000000000009")
    assert found is not None
    assert (found.directory.name, found.why) == ("train-tiny-000000000001", "the newest run of the baseline tiny")
    parent = run_name("train", "of another label", "above/train")
    ran(planned(built, WIDE), parent)
    found = previous_training(built.ns, new, "train-wide-000000000009", parent="above/train")
    assert found is not None
    assert (found.directory.name, found.why) == (parent, "the run that was executed again")
    found = previous_training(built.ns, new, "train-wide-000000000009", parent="unknown/train")
    assert found is not None
    assert found.directory.name == "train-tiny-000000000001"


def test_whoever_comes_back_finds_the_same_one(built: Lab) -> None:
    new = planned(built, RECIPE)
    for number in (1, 2, 3):
        ran(new, f"train-tiny-00000000000{number}")
    found = previous_training(built.ns, new, "train-tiny-000000000002")
    assert found is not None
    assert found.directory.name == "train-tiny-000000000001"


def test_a_damaged_run_and_one_of_a_project_are_passed_over(built: Lab) -> None:
    new = planned(built, RECIPE)
    ran(new, "train-tiny-000000000001")
    damaged = ran(new, "train-tiny-000000000002")
    (damaged / "spec.json").write_text("{}")
    private = built.ns.root / "private" / "clinic" / "runs"
    private.mkdir(parents=True)
    ran(new, "train-tiny-000000000003").rename(private / "train-tiny-000000000003")
    found = previous_training(built.ns, new, "train-tiny-000000000009")
    assert found is not None
    assert found.directory.name == "train-tiny-000000000001"
