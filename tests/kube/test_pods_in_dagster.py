"""Real pods under Dagster: a recipe trained by the job `train`, its checkpoint scored by what the sensor asks for."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Callable
from pathlib import Path

import dagster as dg
import pytest

from aifactory.launch import runs
from aifactory.launch.images.copies import LocalImage
from aifactory.launch.images.verifications import Verification, record
from aifactory.orchestrate.checkpoints import new_evaluations
from aifactory.orchestrate.lines import checkpoints_key, evaluations_key
from aifactory.orchestrate.reported import materializations
from aifactory.project import Project
from tests.jobs.conftest import WORDS
from tests.jobs.world import World
from tests.kube import table
from tests.kube.by_hand import until
from tests.kube.space import Space
from tests.orchestrate.lab import make

pytestmark = [pytest.mark.pods, pytest.mark.timeout(900)]
LINE = "public/models/pair"
RECIPE = """
from aifactory.spec import GPT, Batch, Checkpointing, Mix, Parallelism, Train, recipe
from assets.public import words


@recipe(line="public/models/pair", suites=[words.quiz])
def pair() -> Train:
    return Train(
        model=GPT(layers=1, hidden=8, heads=1, context=8),
        mix=Mix.of({words.ready: 1.0}),
        steps=20,
        batch=Batch(sequences=4),
        checkpointing=Checkpointing(count=2),
        parallelism=Parallelism(data=2),
    )
"""


@pytest.fixture
def world(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    pod_space: Space,
    train_image: LocalImage,
    on_node: Callable[[LocalImage], str],
) -> World:
    """A lab with a dataset that is built, a recipe, and a cluster with a real node."""
    shared = Project.current().state / "images"
    lab = make(tmp_path, monkeypatch)
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / "images").symlink_to(shared)
    lab.write("assets/public/words.py", WORDS)
    lab.write("recipes/pair.py", RECIPE)
    with dg.DagsterInstance.ephemeral() as instance:
        assert lab.materialize(instance).success
    rows = table.table(pod_space, lab.namespace.root, shapes=table.REAL)
    table.write(lab.root, lab=rows)
    oci = on_node(train_image)
    (lab.root / "images.toml").write_text(f'[train]\ndigest = "{train_image.digest}"\nreference = "{oci}"\n')
    proof = Verification(train_image.digest, oci.partition("@")[2], "smoke-lab-000000000001", "lab")
    record(lab.namespace, "public", "train", proof)
    committed(lab.root)
    return World(lab)


def committed(root: Path) -> None:
    """Off the laptop only what git has can run."""
    for words in ("init -q", "add .", "-c user.name=ada -c user.email=ada@lab.example commit -qm lab"):
        subprocess.run(["git", *words.split()], cwd=root, check=True)


def test_checkpoints_are_seen_live_and_one_is_scored_in_a_pod_too(world: World, pod_space: Space) -> None:
    with dg.DagsterInstance.local_temp() as instance:
        results = []
        config = {"recipe": "pair", "cluster": "lab"}
        training = threading.Thread(target=lambda: results.append(world.run(instance, "train", config)), daemon=True)
        training.start()
        checkpoints = checkpoints_key(LINE)
        until(lambda: list(materializations(instance, checkpoints)) or not training.is_alive(), 400)
        assert training.is_alive(), "no checkpoint was seen while the training lived"
        requests, _ = new_evaluations(instance, None, [checkpoints], sensor="checkpoint_evaluation")
        training.join(300)
        assert results[0].success
        assert len(list(materializations(instance, checkpoints))) == 2

        asked = requests[0].run_config["ops"]["evaluate"]["config"]
        assert asked["cluster"] == "lab"
        assert world.run(instance, "evaluate", asked, tags=dict(requests[0].tags)).success
        (score,) = materializations(instance, evaluations_key(LINE))
        assert "quiz accuracy" in score.metadata
    done = {
        run.run.partition("-")[0]: run for run in runs(world.lab.namespace) if run.attempts and "build" not in run.run
    }
    assert {kind: one.state for kind, one in done.items()} == {"train": "succeeded", "evaluate": "succeeded"}
    kinds = "rayjobs,rayclusters,pods,secrets,configmaps"
    until(lambda: not pod_space.kubectl("get", kinds, "-l", "app.kubernetes.io/managed-by=aifactory", "-o", "name"))
