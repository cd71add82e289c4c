"""What a training or an evaluation may open, as its spec declares it. No torch."""

from __future__ import annotations

from pathlib import Path

import pytest

from aifactory.channel import Job
from aifactory.errors import FactoryError
from aifactory.namespace import Namespace
from aifactory.namespace.limits import Limit, limited
from aifactory.spec import InputRef
from aifactory.spec.declared import declared
from tests.train.lab import Lab, evaluate_job, tiny, train_job

CHECKPOINT = "public/runs/train-codes-1/checkpoints/step-00000020"


def limit_of(job: Job) -> Limit:
    return declared(job.namespace, job.spec, job.directory, job.context.places)


def refused(namespace: Namespace, name: str) -> None:
    with pytest.raises(FactoryError) as caught:
        namespace.local(name)
    assert caught.value.code == "undeclared"


def test_a_training_opens_its_data_its_tokenizer_and_its_own_run(lab: Lab) -> None:
    job = train_job(lab, tiny(), "train-declared-1")
    with limited(limit_of(job)):
        other = Namespace(lab.root)  # whoever opens it, with whatever object
        for ref in (lab.tokens, lab.tokenizer):
            other.resolve(ref.key, ref.version).verify()
        assert other.local(job.directory / "checkpoints") == job.directory / "checkpoints"
        refused(other, lab.chapters.key)
        refused(other, lab.heldout.name)
        refused(other, "/factory/public/runs/train-declared-2/spec.json")


def test_an_evaluation_opens_its_suites_and_the_one_checkpoint(lab: Lab) -> None:
    job = evaluate_job(lab, lab.root / CHECKPOINT, "ab" * 32, "evaluate-declared-1", (lab.chapters,))
    with limited(limit_of(job)):
        assert job.namespace.local(f"/factory/{CHECKPOINT}/model.bin") == lab.root / CHECKPOINT / "model.bin"
        job.namespace.resolve(lab.chapters.key)
        refused(job.namespace, lab.heldout.key)
        refused(job.namespace, f"/factory/{CHECKPOINT[:-1]}1")
        refused(job.namespace, "/factory/public/runs/train-codes-1/context.json")


@pytest.mark.parametrize("place", ["/factory/public", "/factory/private/clinic/notes", "/etc", ""])
def test_a_place_that_is_no_checkpoint_opens_nothing(lab: Lab, place: str) -> None:
    job = evaluate_job(lab, lab.root / CHECKPOINT, "ab" * 32, "evaluate-declared-2", (lab.chapters,))
    with pytest.raises(FactoryError) as caught:
        declared(job.namespace, job.spec, job.directory, {"checkpoint": place})
    assert caught.value.code == "checkpoint"
    assert "the context does not say where the checkpoint" in str(caught.value)


def test_the_build_of_a_key_may_not_read_what_it_made_before(lab: Lab, tmp_path: Path) -> None:
    ref = InputRef(role="raw", kind="dataset", key=lab.tokens.key, version=lab.tokens.version)
    made = Limit("a build", {ref.key: frozenset({ref.version})}, output=lab.tokenizer.key)
    with limited(made):
        refused(Namespace(lab.root), lab.tokenizer.key)
