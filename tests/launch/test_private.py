"""What reads private data is private with everything that it leaves: spec, run, checkpoint, evaluation, model."""

from __future__ import annotations

from dataclasses import replace

import pytest

from aifactory.errors import FactoryError
from aifactory.launch import EvaluateTarget, GateRefused, ask, launch, mounts_of, plan
from aifactory.namespace import Grant
from aifactory.spec import Mix, Recipe, Train, check_run
from tests.launch.lab import Lab
from tests.launch.published import BPE, RECIPE, checkpoint, publish, publish_all, tiny

NOTES, SUITE, LINE = "private/clinic/notes/ready", "private/clinic/notes/heldout", "private/clinic/models/notes"


def notes() -> Train:
    return tiny().evolve({"mix": Mix.of({NOTES: 1.0})})


PRIVATE = Recipe(function=notes, line=LINE, scored_on=(SUITE,))


@pytest.fixture
def clinic(lab: Lab) -> Lab:
    """The lab with a project's tokens (made by the public tokenizer) and suite."""
    bpe = publish_all(lab.ns)[BPE]
    publish(lab.ns, NOTES, "tokens", {"train/a.bin": "a"}, inputs={BPE: bpe.version})
    publish(lab.ns, SUITE, "suite", {"test/items": "items"})
    return lab


def refusals(lab: Lab, planned: object) -> list[str]:
    return [one.code for one in ask(planned, project=lab.project, ns=lab.ns).refusals]  # type: ignore[arg-type]


def test_a_private_training_and_what_comes_of_it_stand_under_its_project(clinic: Lab) -> None:
    root = clinic.ns.root / "private/clinic"
    trained = plan(PRIVATE, project=clinic.project, ns=clinic.ns)
    assert (trained.class_root, refusals(clinic, trained)) == (root, [])
    assert {one.access for one in mounts_of(trained, "train-notes-1") if not one.read_only} == {"private/clinic"}
    place = checkpoint(clinic.ns, trained, "train-notes-1", 4)
    assert place.startswith("/factory/private/clinic/runs/train-notes-1/")
    scored = plan(EvaluateTarget(place), project=clinic.project, ns=clinic.ns)
    assert (scored.class_root, refusals(clinic, scored)) == (root, [])
    assert place in {one.target for one in mounts_of(scored, "evaluate-notes-1")}
    assert not list((clinic.ns.root / "public").glob("specs/*"))


def test_a_public_line_that_is_told_to_read_private_data_is_refused_and_writes_nothing_public(clinic: Lab) -> None:
    wrong = plan(RECIPE, overrides=[f"mix.sources.0.key={NOTES}"], project=clinic.project, ns=clinic.ns)
    assert wrong.path.is_relative_to(clinic.ns.root / "private/clinic")
    with pytest.raises(GateRefused) as caught:
        launch(wrong, run="train-tiny-1", project=clinic.project, ns=clinic.ns)
    assert {one.code for one in caught.value.refusals} == {"class"}
    assert not (clinic.ns.root / "public/runs").exists()
    assert not (clinic.ns.root / "public/specs").exists()


def test_a_public_line_may_not_be_scored_on_a_private_suite(clinic: Lab) -> None:
    leaky = replace(RECIPE, scored_on=(SUITE,))
    with pytest.raises(FactoryError, match=f"{SUITE} -> the line public/models/tiny of recipe tiny"):
        leaky.validate()
    assert refusals(clinic, plan(leaky, project=clinic.project, ns=clinic.ns)) == ["class"]
    with pytest.raises(FactoryError):
        leaky.validate([Grant("private/clinic", "private/oncology", "board")])


def test_an_evaluation_has_the_class_of_the_place_where_its_checkpoint_lies(clinic: Lab) -> None:
    """Its line and its place are read from contexts, which no hash covers: a private place stays private."""
    place = checkpoint(clinic.ns, plan(PRIVATE, project=clinic.project, ns=clinic.ns), "train-notes-1", 4)
    public = checkpoint(clinic.ns, plan(RECIPE, project=clinic.project, ns=clinic.ns), "train-tiny-1", 4)
    scored = plan(EvaluateTarget(public), project=clinic.project, ns=clinic.ns)
    assert refusals(clinic, scored) == []
    moved = replace(scored, context=scored.context.evolve({"places": {"checkpoint": place}}))
    assert "class" in refusals(clinic, moved)
    with pytest.raises(FactoryError, match="a mount of the run evaluate-tiny-1") as mounted:
        mounts_of(moved, "evaluate-tiny-1")
    with pytest.raises(FactoryError, match="the run evaluate-tiny-1 in public/runs") as started:
        check_run(scored.class_root / "runs/evaluate-tiny-1", moved.spec, moved.context)
    assert (mounted.value.code, started.value.code) == ("class", "class")
