"""Promoting: a checkpoint as the snapshot of its line."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from aifactory.errors import FactoryError
from aifactory.launch import plan
from aifactory.launch.checkpoints.checkpoint import trained
from aifactory.launch.checkpoints.promote import Promotion, promote
from aifactory.namespace import Namespace, Publications
from aifactory.spec import Recipe
from aifactory.store import canonical, digest
from tests.launch.lab import Lab
from tests.launch.published import BPE, READY, RECIPE, publish_all
from tests.launch.saved import LINE, save

RUN = "train-tiny-0123456789ab"


@pytest.fixture
def checkpoint(lab: Lab) -> str:
    publish_all(lab.ns)
    return save(lab.ns, plan(RECIPE, project=lab.project, ns=lab.ns), RUN, 3)


def promoted(ns: Namespace, checkpoint: str, why: str = "") -> Promotion:
    return promote(checkpoint, ns=ns, writer="ada", why=why)


def refused(ns: Namespace, checkpoint: str) -> FactoryError:
    with pytest.raises(FactoryError) as caught:
        promoted(ns, checkpoint)
    assert not list(ns.directory(LINE).glob("@*"))  # nothing is left, nothing is published
    return caught.value


def rewrite(record: Path, **changes: object) -> None:
    content = json.loads(record.read_bytes())["content"] | changes
    record.write_bytes(canonical({"content": content, "attempt": 1, "digest": digest(content)}))


def test_the_line_stands_for_the_checkpoint_and_its_publication_says_which(lab: Lab, checkpoint: str) -> None:
    found = promoted(lab.ns, checkpoint, why="the best so far")
    spec = plan(RECIPE, project=lab.project, ns=lab.ns).spec
    snapshot = lab.ns.resolve(LINE)
    assert (snapshot.version, snapshot.manifest.kind) == (found.snapshot.version, "model")
    snapshot.verify()
    assert (snapshot.path / "model-00000.safetensors").read_text() == "weights"
    current = Publications(lab.ns, LINE).current()
    assert current is not None
    assert current.checkpoint is not None
    assert (current.run, current.writer, current.why) == (RUN, "ada", "the best so far")
    assert set(current.inputs) == {READY, BPE}
    made = current.checkpoint
    record = json.loads((lab.ns.local(checkpoint) / "checkpoint.json").read_bytes())
    assert (made.digest, made.path, made.step, made.spec) == (record["digest"], checkpoint, 3, spec.hash)


def test_the_same_checkpoint_is_the_same_version_whichever_attempt_saved_it(lab: Lab, checkpoint: str) -> None:
    first = promoted(lab.ns, checkpoint)
    again = promoted(lab.ns, checkpoint)
    assert (again.snapshot.version, again.published.outcome) == (first.snapshot.version, "unchanged")
    assert Publications(lab.ns, LINE).number() == 1
    later = save(lab.ns, plan(RECIPE, project=lab.project, ns=lab.ns), "train-tiny-2", 3, attempt=2)
    assert promoted(lab.ns, later).snapshot.version == first.snapshot.version


def test_another_checkpoint_is_another_version_and_a_rollback_brings_the_first_back(lab: Lab, checkpoint: str) -> None:
    first = promoted(lab.ns, checkpoint)
    planned = plan(RECIPE, project=lab.project, ns=lab.ns)
    second = promoted(lab.ns, save(lab.ns, planned, "train-tiny-2", 4, weights="others"))
    assert second.published.outcome == "published"
    assert lab.ns.resolve(LINE).version == second.snapshot.version != first.snapshot.version
    Publications(lab.ns, LINE).rollback(first.snapshot.version[:8], writer="ada", why="it was better")
    assert trained(LINE, lab.ns).step == 3
    assert trained(f"{LINE}@{second.snapshot.version[:8]}", lab.ns).step == 4
    assert promoted(lab.ns, second.checkpoint.path).published.outcome == "published"


def test_a_changed_file_is_refused_with_both_digests(lab: Lab, checkpoint: str) -> None:
    file = lab.ns.local(checkpoint) / "model-00000.safetensors"
    file.write_text("weightz")
    error = refused(lab.ns, checkpoint)
    assert (error.code, str(file) in error.what) == ("integrity", True)
    assert str(error.found).startswith("sha256 ")
    assert str(error.expected).startswith("sha256 ")
    assert error.found != error.expected


def test_an_altered_record_is_refused_with_both_digests(lab: Lab, checkpoint: str) -> None:
    record = lab.ns.local(checkpoint) / "checkpoint.json"
    claimed = json.loads(record.read_bytes())["digest"]
    record.write_bytes(record.read_bytes().replace(b'"step":3', b'"step":4'))
    error = refused(lab.ns, checkpoint)
    assert (error.code, error.expected) == ("checkpoint", claimed)
    assert error.found != claimed
    assert len(str(error.found)) == 64


def test_the_checkpoint_of_another_spec_is_refused_with_both_hashes(lab: Lab, checkpoint: str) -> None:
    rewrite(lab.ns.local(checkpoint) / "checkpoint.json", spec="1" * 64)
    error = refused(lab.ns, checkpoint)
    assert (error.code, error.found) == ("checkpoint", "1" * 64)


@pytest.mark.parametrize("step", ["step-00000009", "step-00000003.damaged-2", ".step-00000003.attempt-1"])
def test_what_is_no_whole_checkpoint_is_refused(lab: Lab, checkpoint: str, step: str) -> None:
    if not step.endswith("9"):
        shutil.copytree(lab.ns.local(checkpoint), lab.ns.local(checkpoint).with_name(step))
    error = refused(lab.ns, f"{checkpoint.rpartition('/')[0]}/{step}")
    assert error.code == "checkpoint"


def test_a_line_is_no_checkpoint(lab: Lab, checkpoint: str) -> None:
    assert refused(lab.ns, LINE).code == "checkpoint"


def test_a_file_outside_of_the_checkpoint_is_refused(lab: Lab, checkpoint: str) -> None:
    entry = {"path": "../../spec.json", "bytes": 1, "sha256": "0" * 64}
    rewrite(lab.ns.local(checkpoint) / "checkpoint.json", files=[entry])
    assert refused(lab.ns, checkpoint).code == "integrity"


def test_a_model_is_found_by_its_frozen_spec_when_its_run_is_gone(lab: Lab, checkpoint: str) -> None:
    before = promoted(lab.ns, checkpoint)
    run = lab.ns.local(checkpoint).parents[1]
    run.rename(run.with_name("trashed"))
    found = trained(LINE, lab.ns)
    assert (found.spec.hash, found.run, found.context.line) == (before.checkpoint.spec, RUN, LINE)
    assert [ref.key for ref in found.context.suites]


def test_a_copy_is_told_as_it_goes_and_needed_once(lab: Lab, checkpoint: str) -> None:
    said: list[tuple[int, int]] = []
    promote(checkpoint, ns=lab.ns, writer="ada", told=lambda done, total: said.append((done, total)))
    assert said[-1][0] == said[-1][1] > 0
    assert [done for done, _ in said] == sorted(done for done, _ in said)
    other = save(lab.ns, plan(RECIPE, project=lab.project, ns=lab.ns), "train-tiny-2", 4, weights="others")
    promoted(lab.ns, other)
    copied = len(said)
    promote(checkpoint, ns=lab.ns, writer="ada", told=lambda done, total: said.append((done, total)))
    assert len(said) == copied  # its files are in the line already
    assert trained(LINE, lab.ns).step == 3


def test_a_damaged_copy_is_replaced_by_the_checkpoint(lab: Lab, checkpoint: str) -> None:
    snapshot = promoted(lab.ns, checkpoint).snapshot
    file = snapshot.path / "model-00000.safetensors"
    file.chmod(0o644)
    file.write_text("weightz")
    assert promoted(lab.ns, checkpoint).snapshot.version == snapshot.version
    lab.ns.resolve(LINE).verify()
    assert file.read_text() == "weights"


def test_who_promotes_while_another_copies_wins_and_is_named(lab: Lab, checkpoint: str) -> None:
    other = save(lab.ns, plan(RECIPE, project=lab.project, ns=lab.ns), "train-tiny-2", 4, weights="others")

    def meanwhile(done: int, total: int) -> None:
        promote(other, ns=lab.ns, writer="bo")

    found = promote(checkpoint, ns=lab.ns, writer="ada", told=meanwhile)
    assert (found.published.outcome, found.published.publication.writer) == ("superseded", "bo")
    assert trained(LINE, lab.ns).step == 4


def test_a_rollback_while_a_copy_goes_on_wins(lab: Lab, checkpoint: str) -> None:
    first = promoted(lab.ns, checkpoint).snapshot.version
    planned = plan(RECIPE, project=lab.project, ns=lab.ns)
    promoted(lab.ns, save(lab.ns, planned, "train-tiny-2", 4, weights="others"))
    third = save(lab.ns, planned, "train-tiny-3", 5, weights="more")
    undone: list[int] = []

    def meanwhile(done: int, total: int) -> None:
        if not undone:
            undone.append(Publications(lab.ns, LINE).rollback(first, writer="bo", why="it was better").n)

    with pytest.raises(FactoryError) as caught:
        promote(third, ns=lab.ns, writer="ada", told=meanwhile)
    assert caught.value.code == "rolled_back"
    assert trained(LINE, lab.ns).step == 3


def test_the_model_of_a_private_run_is_private(lab: Lab) -> None:
    publish_all(lab.ns)
    line = "private/clinic/models/tiny"
    recipe = Recipe(function=RECIPE.function, line=line, scored_on=RECIPE.scored_on)
    planned = plan(recipe, project=lab.project, ns=lab.ns)
    place = save(lab.ns, planned, RUN, 3)
    assert place.startswith("/factory/private/clinic/runs/")
    assert promoted(lab.ns, place).snapshot.manifest.access == "private/clinic"
    context = lab.ns.local(place).parents[1] / "context.json"
    context.write_text(context.read_text().replace(line, LINE))
    (lab.ns.root / "private/clinic/specs" / planned.hash / "spec.json").unlink()  # nothing says which line it was
    with pytest.raises(FactoryError) as caught:
        promoted(lab.ns, place)
    assert caught.value.code == "class"
    assert not lab.ns.directory(LINE).exists()
