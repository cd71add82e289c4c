"""Pins by hand in the jobs' configs. The gate is closed by a queue, so that a spec is frozen and nothing is trained."""

from __future__ import annotations

from typing import Any

import dagster as dg
import pytest

from aifactory.launch import EvaluateTarget, Plan, plan, resume, run_name
from aifactory.namespace import Namespace, Publications, Snapshot
from tests.jobs.test_train import failure
from tests.jobs.world import World
from tests.launch.published import publish
from tests.launch.saved import save

READY, BPE, QUIZ = "public/words/ready", "public/words/bpe", "public/words/quiz"


@pytest.fixture
def old(own_world: World) -> dict[str, Snapshot]:
    """The versions that are no longer current."""
    ns = own_world.lab.namespace
    before = {key: ns.resolve(key) for key in (READY, BPE, QUIZ)}
    files = {"train/b.bin": "b", "val/b.bin": "b", "test/b.bin": "b"}
    publish(ns, READY, "tokens", files, inputs={BPE: before[BPE].version})
    publish(ns, QUIZ, "suite", {"test/items": "other items"})
    return before


def frozen(world: World, instance: dg.DagsterInstance, config: dict[str, Any], *, job: str = "train") -> Plan:
    """The plan of a run that the gate refused."""
    result = world.run(instance, job, {**config, "queue": "closed"})
    assert "no queue 'closed'" in failure(result)
    label = config.get("recipe") or f"step-{int(config['checkpoint'][-8:])}"
    found = resume(run_name(job, label, f"{result.run_id}/{job}"))
    assert found is not None
    return found


def test_pins_of_a_training_are_in_its_spec_and_in_its_context(
    own_world: World, instance: dg.DagsterInstance, old: dict[str, Snapshot]
) -> None:
    pins = [f"{READY}@{old[READY].version[:12]}", f"{QUIZ}@{old[QUIZ].version[:12]}"]
    found = frozen(own_world, instance, {"recipe": "small", "pins": pins})
    assert [ref.version for ref in found.spec.inputs_of("dataset")] == [old[READY].version]
    assert [ref.version for ref in found.context.suites] == [old[QUIZ].version]
    assert found.context.pins == tuple(sorted(f"{key}@{old[key].version[:16]}" for key in (READY, QUIZ)))
    assert found.context.requester == "person:dagster"


def test_the_evaluations_of_a_pinned_training_read_what_it_pinned(
    own_world: World, instance: dg.DagsterInstance, old: dict[str, Snapshot]
) -> None:
    ns = own_world.lab.namespace
    run_id, name, planned = own_world.planned("train", "small", "small")
    planned = plan("small", pins=[f"{QUIZ}@{old[QUIZ].version}"], origin=f"{run_id}/train")
    path = own_world.saved(name, planned, 1)
    evaluation = plan(EvaluateTarget(path))
    assert [ref.version for ref in evaluation.spec.inputs_of("suite")] == [old[QUIZ].version]
    newer = ns.resolve(QUIZ).version
    by_hand = frozen(own_world, instance, {"checkpoint": path, "pins": [f"{QUIZ}@{newer[:12]}"]}, job="evaluate")
    assert [ref.version for ref in by_hand.spec.inputs_of("suite")] == [newer]


def test_the_inputs_of_another_run(own_world: World, instance: dg.DagsterInstance, old: dict[str, Snapshot]) -> None:
    _, name, planned = own_world.planned("train", "small", "small")
    pinned = plan("small", pins=[f"{READY}@{old[READY].version}"])
    own_world.ended(name, pinned, [])
    assert planned.hash != pinned.hash
    found = frozen(own_world, instance, {"recipe": "small", "inputs_of": name})
    assert found.hash == pinned.hash
    assert found.context.pins == (f"inputs of {name}",)


def test_a_training_goes_on_from_a_checkpoint(
    own_world: World, instance: dg.DagsterInstance, old: dict[str, Snapshot]
) -> None:
    run = "train-small-0123456789ab"
    pinned = plan("small", pins=[f"{READY}@{old[READY].version}"])
    place = save(own_world.lab.namespace, pinned, run, 1)
    config = {"recipe": "small", "overrides": {"steps": 4}, "resume_from": f"{run}/1"}
    found = frozen(own_world, instance, config)
    (ref,) = found.spec.inputs_of("checkpoint")
    assert (ref.role, found.context.places) == ("resume", {"resume": place})
    assert [one.version for one in found.spec.inputs_of("dataset")] == [old[READY].version]
    assert found.context.pins == (f"resume {place}",)


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({"pins": [f"{READY}@11111111"]}, "names no version"),
        ({"pins": ["public/words/raw@11111111"]}, "names no version"),
        ({"pins": ["words"]}, "is no pin"),
        ({"inputs_of": "train-small-9"}, "there is no run"),
        ({"image": "f" * 16}, "no image train on this machine"),
        ({"resume_from": "train-small-9/1"}, "there is no run"),
    ],
)
def test_what_can_not_be_pinned_fails_with_its_reason(
    world: World, instance: dg.DagsterInstance, config: dict[str, Any], said: str
) -> None:
    result = world.run(instance, "train", {"recipe": "small", **config})
    assert not result.success
    assert said in failure(result)


def test_a_key_that_the_recipe_does_not_read_can_not_be_pinned(world: World, instance: dg.DagsterInstance) -> None:
    version = Namespace.open().resolve("public/words/raw").version
    result = world.run(instance, "train", {"recipe": "small", "pins": [f"public/words/raw@{version}"]})
    assert "does not read public/words/raw" in failure(result)
    assert Publications(Namespace.open(), "public/words/raw").number() == 1
