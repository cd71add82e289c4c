"""Promoting: a checkpoint as the snapshot of its line."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from aifactory.errors import FactoryError
from aifactory.launch import plan
from aifactory.launch.checkpoint import trained
from aifactory.launch.promote import Promotion, promote
from aifactory.namespace import Namespace, Publications
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
