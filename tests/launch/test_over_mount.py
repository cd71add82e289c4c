"""Looking up in every root, writing in the first: specs, runs, checkpoints, claims, verifications, promotions."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from aifactory.errors import FactoryError
from aifactory.launch import EvaluateTarget, launch, plan, resume
from aifactory.launch.checkpoints.promote import promote
from aifactory.launch.claims import claim
from aifactory.launch.images.verifications import Verification, record, verifications
from aifactory.launch.local import environment
from aifactory.launch.previous import previous_training
from aifactory.launch.runs.attempts import Attempts
from aifactory.launch.runs.summary import RUNS, find_run, runs
from aifactory.launch.stopping import stop
from aifactory.namespace import Namespace, Publications
from aifactory.spec import load_frozen
from tests.launch.lab import Lab
from tests.launch.published import READY, RECIPE, publish_all
from tests.launch.saved import LINE, put_run, save

RUN = "train-tiny-0123456789ab"


@pytest.fixture
def checkpoint(lab: Lab) -> str:
    """In the lab's tree, which is read-only to `own`."""
    publish_all(lab.ns)
    return save(lab.ns, plan(RECIPE, project=lab.project, ns=lab.ns), RUN, 3)


@pytest.fixture
def own(lab: Lab, tmp_path: Path) -> Namespace:
    return Namespace(tmp_path / "own", (lab.ns.root,))


def tree(ns: Namespace) -> dict[str, int]:
    return {str(path): path.lstat().st_mtime_ns for path in ns.root.rglob("*")}


def ended(ns: Namespace, planned, run: str, outcome: str | None) -> None:  # type: ignore[no-untyped-def]
    attempts = Attempts(put_run(planned, run))
    attempts.start(backend="local", spec=planned.hash, writer="test", after=None)
    if outcome is not None:
        attempts.end(1, outcome, writer="test")  # type: ignore[arg-type]


def test_a_checkpoint_of_the_mount_is_evaluated_here(lab: Lab, own: Namespace, checkpoint: str) -> None:
    before = tree(lab.ns)
    planned = plan(EvaluateTarget(checkpoint), project=lab.project, ns=own)
    assert planned.spec.inputs_of("checkpoint")[0].key == LINE
    assert planned.path.is_relative_to(own.root)
    local = str(lab.ns.local(checkpoint))
    for name in (local, f"{RUN}/3"):
        assert plan(EvaluateTarget(name), project=lab.project, ns=own).hash == planned.hash
    assert planned.context.root == f"{own.root}{os.pathsep}{lab.ns.root}"
    assert tree(lab.ns) == before


def test_an_evaluation_at_the_lab_is_not_done_again(lab: Lab, own: Namespace, checkpoint: str) -> None:
    theirs = plan(EvaluateTarget(checkpoint), project=lab.project, ns=lab.ns)
    mine = plan(EvaluateTarget(checkpoint), project=lab.project, ns=own)

    def asked(run: str, *, always: bool = False) -> str | None:
        other = claim(mine, run, always=always, requester="checkpoint_evaluation", ns=own)
        return None if other is None else f"{other.run} {other.state}"

    assert claim(theirs, "evaluate-lab", always=False, requester="checkpoint_evaluation", ns=lab.ns) is None
    ended(lab.ns, theirs, "evaluate-lab", None)
    assert asked("evaluate-own") == "evaluate-lab live"
    Attempts(theirs.class_root / RUNS / "evaluate-lab").end(1, "succeeded", writer="test")
    before = tree(lab.ns)
    assert asked("evaluate-own") == "evaluate-lab succeeded"
    assert asked("evaluate-person", always=True) is None
    assert tree(lab.ns) == before


def test_a_failed_evaluation_at_the_lab_leaves_the_work_to_us(lab: Lab, own: Namespace, checkpoint: str) -> None:
    theirs = plan(EvaluateTarget(checkpoint), project=lab.project, ns=lab.ns)
    assert claim(theirs, "evaluate-lab", always=False, requester="checkpoint_evaluation", ns=lab.ns) is None
    ended(lab.ns, theirs, "evaluate-lab", "failed_code")
    mine = plan(EvaluateTarget(checkpoint), project=lab.project, ns=own)
    assert claim(mine, "evaluate-own", always=False, requester="checkpoint_evaluation", ns=own) is None


def test_a_frozen_spec_is_found_below_and_copied_to_where_it_runs(lab: Lab, own: Namespace, checkpoint: str) -> None:
    theirs = plan(RECIPE, project=lab.project, ns=lab.ns)
    before = tree(lab.ns)
    assert load_frozen(own, theirs.hash[:10]).path == theirs.path
    planned = plan(theirs.hash, project=lab.project, ns=own)
    assert (planned.hash, planned.class_root) == (theirs.hash, own.root / "public")
    assert planned.path.read_bytes() == theirs.path.read_bytes()
    assert (planned.context.line, planned.context.suites) == (theirs.context.line, theirs.context.suites)
    assert plan(theirs.hash, project=lab.project, ns=own).path == planned.path
    assert tree(lab.ns) == before


def test_runs_of_every_root_are_listed_and_those_of_the_mount_left_alone(
    lab: Lab, own: Namespace, checkpoint: str
) -> None:
    theirs = resume(RUN, ns=own)
    assert theirs is not None
    ended(lab.ns, theirs, RUN, None)
    mine = plan(RECIPE, project=lab.project, ns=own)
    ended(own, mine, "train-own", "succeeded")
    assert {(one.run, one.state) for one in runs(own)} == {(RUN, "running"), ("train-own", "succeeded")}
    assert find_run(own, RUN) == theirs.class_root / RUNS / RUN
    before = tree(lab.ns)
    for act in (
        lambda: stop(own, RUN),
        lambda: launch(theirs, run=RUN, project=lab.project, ns=own),
    ):
        with pytest.raises(FactoryError) as caught:
            act()
        assert caught.value.code == "read_only"
        assert str(lab.ns.root) in str(caught.value)
        assert str(own.root) in str(caught.value)
    assert tree(lab.ns) == before


def test_of_two_runs_of_one_name_the_first_roots_counts(lab: Lab, own: Namespace, checkpoint: str) -> None:
    put_run(plan(RECIPE, project=lab.project, ns=own), RUN)
    assert [one.directory for one in runs(own)] == [own.root / "public" / RUNS / RUN]
    assert find_run(own, RUN) == own.root / "public" / RUNS / RUN


def test_a_training_is_compared_with_the_labs_last_one(lab: Lab, own: Namespace, checkpoint: str) -> None:
    theirs = resume(RUN, ns=lab.ns)
    assert theirs is not None
    ended(lab.ns, theirs, RUN, "succeeded")
    mine = plan(RECIPE, project=lab.project, ns=own)
    found = previous_training(own, mine, "train-own")
    assert found is not None
    assert found.directory.name == RUN


def test_what_verified_an_image_at_the_lab_counts_here(lab: Lab, own: Namespace) -> None:
    one = Verification("1" * 64, f"sha256:{'2' * 64}", "smoke-nightly-1", "gpu")
    record(lab.ns, "public", "train", one)
    record(own, "public", "train", replace(one, run="smoke-own-1"))
    assert [found.run for found in verifications(own, "train")] == ["smoke-nightly-1", "smoke-own-1"]
    assert [found.run for found in verifications(lab.ns, "train")] == ["smoke-nightly-1"]


def test_a_checkpoint_of_the_mount_is_promoted_by_a_fork_of_its_line(lab: Lab, own: Namespace, checkpoint: str) -> None:
    promote(checkpoint, ns=lab.ns, writer="bob", why="the lab's")
    first = resume(RUN, ns=lab.ns)
    assert first is not None
    other = save(lab.ns, first, RUN, 4, weights="better")
    before = tree(lab.ns)
    done = promote(other, ns=own, writer="ann", why="mine")
    assert done.published.publication.left is not None
    assert own.resolve(LINE).path.is_relative_to(own.root)
    assert lab.ns.resolve(LINE).version != done.snapshot.version
    planned = plan(EvaluateTarget(LINE), project=lab.project, ns=own)
    assert planned.spec.inputs_of("model")[0].version == done.snapshot.version
    Publications(own, LINE).drop(writer="ann", why="x")
    assert own.resolve(LINE) == lab.ns.resolve(LINE)
    assert tree(lab.ns) == before


def test_a_version_that_a_fork_hides_is_an_input_by_pin(lab: Lab, own: Namespace, checkpoint: str) -> None:
    theirs = lab.ns.resolve(READY)
    publish_all(own)
    pinned = plan(RECIPE, project=lab.project, ns=own, pins=[f"{READY}@{theirs.version[:16]}"])
    assert pinned.spec.inputs_of("dataset")[0].version == theirs.version
    by_path = plan(RECIPE, project=lab.project, ns=own, pins=[str(theirs.path)])
    assert by_path.hash == pinned.hash


def test_a_child_process_gets_the_same_list(lab: Lab, own: Namespace, tmp_path: Path) -> None:
    given = environment({"AIFACTORY_ROOT": "/else"}, tmp_path, image=lab.image, roots=own.variable, project=lab.project)
    assert given["AIFACTORY_ROOT"] == f"{own.root}{os.pathsep}{lab.ns.root}"
