"""The smoke on real pods: the image proves itself on a head and two workers, is let in by the gate, and skipped."""

from __future__ import annotations

import os
import struct
import subprocess
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import dagster as dg
import pytest

from aifactory.launch import SmokeTarget, ask, plan
from aifactory.launch.images.copies import LocalImage
from aifactory.launch.images.verifications import verifications
from aifactory.launch.smoke.finish import steps_of
from aifactory.launch.smoke.settings import require_smoke
from aifactory.namespace import Namespace
from aifactory.orchestrate.nightly import decisions_of
from aifactory.project import Project
from tests.jobs.world import job
from tests.kube import table
from tests.kube.node import PODS
from tests.kube.space import Space
from tests.orchestrate.lab import Lab, make
from tests.train.lab import make_lab

pytestmark = [pytest.mark.pods, pytest.mark.timeout(900)]
SMOKE = """
[tool.aifactory.smoke]
data = "public/codes/ready"
suites = ["public/codes/heldout"]
clusters = ["lab"]
"""
STEPS = ("data", "mounts", "undisturbed", "killed", "resumed", "compared", "evaluated")


@pytest.fixture
def lab(
    pod_space: Space,
    on_node: Callable[[LocalImage], str],
    train_image: LocalImage,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Lab:
    """A committed project with this cluster and the image pinned; data, with something private beside it."""
    made = make(tmp_path, monkeypatch, train_image.path.parents[1])
    make_lab(tmp_path / "namespace")
    secret = tmp_path / "namespace" / "private" / "ward" / "notes"
    secret.mkdir(parents=True)
    (secret / "rows.txt").write_text("a patient\n")
    table.write(made.root, lab=table.table(pod_space, tmp_path / "namespace", shapes=table.REAL))
    made.write("pyproject.toml", SMOKE)
    made.write("images.toml", f'[train]\ndigest = "{train_image.digest}"\nreference = "{on_node(train_image)}"\n')
    for command in (["init", "--quiet"], ["add", "--all"], ["commit", "--quiet", "--message", "a lab"]):
        identity = ["-c", "user.name=ada", "-c", "user.email=ada@lab.invalid"]
        subprocess.run(["git", *identity, *command], cwd=made.root, check=True)
    runs = tmp_path / "namespace" / "public" / "runs"
    runs.mkdir()
    os.setxattr(runs, "system.posix_acl_default", writable_by(PODS))
    return made


def writable_by(user: int) -> bytes:
    """A default ACL: what is made here by anybody may be written by that user too, as where a site's control plane and
    its pods are two users of one tree."""
    anybody, entries = 0xFFFFFFFF, [(1, 7), (2, 7), (4, 5), (16, 7), (32, 5)]
    rows = (struct.pack("<HHI", tag, rights, user if tag == 2 else anybody) for tag, rights in entries)
    return struct.pack("<I", 2) + b"".join(rows)


def test_a_green_smoke_lets_the_image_train_on_its_cluster_and_is_skipped_from_then_on(
    lab: Lab, pod_space: Space, tmp_path: Path
) -> None:
    project = Project.current()
    ns = Namespace.open()
    with dg.DagsterInstance.ephemeral() as instance:
        settings = require_smoke(project)
        (before,) = decisions_of(project, settings, datetime.now(UTC))
        assert before.action == "run", before.text
        target = SmokeTarget(settings.data, settings.suites)
        planned = plan(target, cluster="lab")
        trains = replace(planned, spec=planned.spec.evolve({"kind": "train", "inputs": trained(planned.spec.inputs)}))
        assert [one.code for one in ask(trains).refusals] == ["image_unverified"]

        config = {"ops": {"smoke": {"config": {"cluster": "lab", "image": before.pair.digest}}}}
        done = job("smoke").execute_in_process(run_config=config, instance=instance, raise_on_error=False)
        (directory,) = (ns.root / "public" / "runs").glob("smoke-lab-*")
        steps = steps_of(directory)
        assert done.success, [(one.name, one.outcome, one.text) for one in steps]
        assert tuple(one.name for one in steps if one.outcome == "green") == STEPS
        mounts = next(one for one in steps if one.name == "mounts")
        assert mounts.facts["tried"] > 5
        print(*(f"{one.name:12} {one.seconds:6.1f} s  {one.text}" for one in steps), sep="\n")

        (proof,) = verifications(ns, "train")
        assert (proof.oci, proof.where, proof.run) == (before.pair.oci, "lab", directory.name)
        assert ask(trains).refusals == ()
        (after,) = decisions_of(project, settings, datetime.now(UTC) + timedelta(days=1))
        assert (after.action, after.run, after.link) == ("skip", directory.name, f"/runs/{done.run_id}")
    assert pod_space.items("rayjobs") == []
    assert pod_space.items("pods") == []


def trained(inputs: tuple) -> tuple:  # type: ignore[type-arg]
    """What a training reads of what a smoke reads."""
    return tuple(one for one in inputs if one.kind != "suite")
