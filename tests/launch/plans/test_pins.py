"""Pins by hand: older inputs and images for a plan, and what can't be pinned."""

from __future__ import annotations

from typing import Any

import pytest

from aifactory.errors import FactoryError
from aifactory.launch import EvaluateTarget, Plan, ask, ensure_image, plan
from aifactory.namespace import Namespace, Snapshot
from aifactory.spec import image_digest
from tests.launch.lab import Lab
from tests.launch.published import BPE, READY, RECIPE, SUITE, checkpoint, publish, publish_all


def newer(ns: Namespace, made: dict[str, Snapshot]) -> Snapshot:
    """Another current version of the tokens, by the same tokenizer."""
    files = {"train/b.bin": "b", "val/b.bin": "b", "test/b.bin": "b"}
    return publish(ns, READY, "tokens", files, inputs={BPE: made[BPE].version}, checks={"integrity": True})


def made_plan(lab: Lab, **options: Any) -> Plan:
    return plan(RECIPE, project=lab.project, ns=lab.ns, **options)


def version(planned: Plan) -> str:
    return planned.spec.inputs_of("dataset")[0].version


def refused(lab: Lab, target: Any = RECIPE, **options: Any) -> FactoryError:
    with pytest.raises(FactoryError) as caught:
        plan(target, project=lab.project, ns=lab.ns, **options)
    return caught.value


def test_a_pinned_input_is_read_in_that_version_and_nothing_else_changes(lab: Lab) -> None:
    made = publish_all(lab.ns)
    before = made_plan(lab)
    current = newer(lab.ns, made)
    assert version(made_plan(lab)) == current.version
    pinned = made_plan(lab, pins=[f"{READY}@{made[READY].version[:8]}"])
    assert (version(pinned), pinned.hash) == (made[READY].version, before.hash)
    assert ask(pinned, project=lab.project, ns=lab.ns).refusals == ()


def test_a_pinned_suite_is_what_the_checkpoints_will_be_scored_on(lab: Lab) -> None:
    made = publish_all(lab.ns)
    publish(lab.ns, SUITE, "suite", {"test/items": "other items"})
    planned = made_plan(lab, pins=[f"{SUITE}@{made[SUITE].version}"])
    assert [(ref.version, ref.part) for ref in planned.context.suites] == [(made[SUITE].version, "test")]


def test_an_evaluation_takes_a_pinned_suite_instead_of_the_one_that_its_training_fixed(lab: Lab) -> None:
    publish_all(lab.ns)
    place = checkpoint(lab.ns, made_plan(lab), "train-tiny-1", 3)
    other = publish(lab.ns, SUITE, "suite", {"test/items": "other items"})
    target = EvaluateTarget(place)
    planned = plan(target, pins=[f"{SUITE}@{other.version[:12]}"], project=lab.project, ns=lab.ns)
    assert [ref.version for ref in planned.spec.inputs_of("suite")] == [other.version]
    assert refused(lab, target, pins=[f"{READY}@{'1' * 8}"]).code == "version"


def test_the_inputs_of_another_run_and_a_pin_over_them(lab: Lab) -> None:
    made = publish_all(lab.ns)
    first = made_plan(lab)
    checkpoint(lab.ns, first, "train-tiny-1", 3)
    current = newer(lab.ns, made)
    publish(lab.ns, SUITE, "suite", {"test/items": "other items"})
    again = made_plan(lab, inputs_of="train-tiny-1", overrides=["steps=5"])
    assert again.spec.inputs == first.spec.inputs
    assert again.context.suites == first.context.suites
    both = made_plan(lab, inputs_of="train-tiny-1", pins=[f"{READY}@{current.version}"])
    assert version(both) == current.version


def test_a_run_that_did_not_read_what_the_recipe_reads_gives_it_nothing(lab: Lab) -> None:
    publish_all(lab.ns)
    other = lab.plan("say", inputs=[("rows", BPE, made_plan(lab).spec.inputs_of("tokenizer")[0].version)])
    checkpoint(lab.ns, other, "build-say-1", 1)
    error = refused(lab, inputs_of="build-say-1")
    assert error.code == "pin"
    assert READY in str(error)


def test_an_older_image_of_this_machine(own_lab: Lab) -> None:
    publish_all(own_lab.ns)
    digest = ensure_image(own_lab.project, "train").digest
    old = made_plan(own_lab)
    own_lab.write("src/aifactory/train/added.py", "X = 1\n")
    assert image_digest(own_lab.project, "train") != digest
    named = made_plan(own_lab, image=digest[:10])
    assert named.hash == old.hash
    error = refused(own_lab, image=own_lab.image.digest)
    assert error.code == "unknown_image"  # it is one of data, not of train
    assert digest[:16] in str(error)
    for text in ("f" * 64, digest[:4]):
        assert refused(own_lab, image=text).code == "unknown_image"


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        ({"pins": [f"{READY}@{'1' * 8}"]}, "version", "aifactory versions"),
        ({"pins": ["public/probe/redy@11111111"]}, "unpublished", READY),
        ({"pins": [READY]}, "pin", "8 digits"),
        ({"inputs_of": "train-tiny-9"}, "unknown_run", "aifactory runs"),
    ],
)
def test_what_names_nothing_is_an_error(lab: Lab, options: dict[str, Any], code: str, said: str) -> None:
    publish_all(lab.ns)
    error = refused(lab, **options)
    assert error.code == code
    assert said in str(error)


def test_a_key_that_is_not_read_can_not_be_pinned_nor_one_twice(lab: Lab) -> None:
    made = publish_all(lab.ns)
    other = publish(lab.ns, "public/probe/other", "table", {"rows": "rows"})
    error = refused(lab, pins=[f"public/probe/other@{other.version}"])
    assert (error.code, READY in str(error)) == ("pin", True)
    current = newer(lab.ns, made)
    pins = [f"{READY}@{made[READY].version}", f"{READY}@{current.version}"]
    assert refused(lab, pins=pins).code == "pin"
    assert made_plan(lab, pins=[pins[0], pins[0]]).hash == made_plan(lab, pins=pins[:1]).hash


def test_a_tokenizer_goes_with_its_data(lab: Lab) -> None:
    made = publish_all(lab.ns)
    other = publish(lab.ns, BPE, "tokenizer", {"tokenizer.json": "{}"})
    assert refused(lab, pins=[f"{BPE}@{other.version}"]).code == "pin"
    assert made_plan(lab, pins=[f"{BPE}@{made[BPE].version}"]).hash == made_plan(lab).hash


def test_a_frozen_spec_takes_no_pins(lab: Lab) -> None:
    made = publish_all(lab.ns)
    frozen = made_plan(lab)
    for options in ({"pins": [f"{READY}@{made[READY].version}"]}, {"image": "1" * 8}):
        assert refused(lab, frozen.hash, **options).code == "pin"
