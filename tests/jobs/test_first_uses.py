"""For real, once: a training, its checkpoint promoted, the line evaluated and trained on, and where the score comes
from. Nothing is replayed here."""

from __future__ import annotations

from typing import Any

import dagster as dg
import pytest

from aifactory.channel import Note, Reader
from aifactory.launch import Attempts, runs
from aifactory.launch.lineage.about import describe
from aifactory.launch.lineage.names import find_nodes
from aifactory.launch.lineage.records import gather
from aifactory.launch.runs.summary import RunSummary
from aifactory.namespace import Key, Namespace
from aifactory.orchestrate.keys import asset_key
from aifactory.orchestrate.lines import checkpoints_key, evaluations_key
from aifactory.orchestrate.reported import materializations, value_of
from aifactory.spec import RunSpec
from tests.jobs.world import World

pytest.importorskip("torch", reason="torch is not installed here")
LINE = "public/models/small"


def ran(world: World, instance: dg.DagsterInstance, name: str, config: dict[str, Any]) -> RunSummary:
    """The newest run, which this job made and which succeeded."""
    result = world.run(instance, name, config)
    assert result.success
    newest = runs(world.lab.namespace)[0]
    assert newest.state == "succeeded"
    return newest


def newest(instance: dg.DagsterInstance, key: dg.AssetKey) -> dg.AssetMaterialization:
    return next(iter(materializations(instance, key)))


def notes(run: RunSummary) -> list[str]:
    attempt = Attempts(run.directory).path(run.attempts)
    return [message.payload.text for message in Reader(attempt).new() if isinstance(message.payload, Note)]


def test_a_promoted_checkpoint_is_evaluated_and_trained_on_under_its_line(
    own_world: World, instance: dg.DagsterInstance
) -> None:
    ns = Namespace.open()
    first = ran(own_world, instance, "train", {"recipe": "small"})
    assert own_world.run(instance, "promote", {"checkpoint": f"{first.run}/2", "why": "the first"}).success
    version = ns.resolve(LINE).version
    assert value_of(newest(instance, asset_key(LINE)), "version") == version

    scored = ran(own_world, instance, "evaluate", {"checkpoint": LINE})
    (model,) = RunSpec.load(scored.directory / "spec.json").inputs_of("model")
    assert (model.key, model.version) == (LINE, version)
    event = newest(instance, evaluations_key(LINE))
    assert (value_of(event, "run"), value_of(event, "step")) == (scored.run, 2)
    accuracy = value_of(event, "quiz accuracy")
    assert isinstance(accuracy, float)

    further = ran(own_world, instance, "train", {"recipe": "small", "overrides": {"start": LINE, "seed": 1}})
    (start,) = RunSpec.load(further.directory / "spec.json").inputs_of("model")
    assert (start.role, start.key, start.version) == ("start", LINE, version)
    assert f"begins with the weights of {start.name}, step 2" in notes(further)
    assert value_of(newest(instance, checkpoints_key(LINE)), "run") == further.run

    lineage = gather(ns).lineage
    (score,) = find_nodes(scored.run, lineage, ns)
    (told,) = describe(score, lineage, ns)["scores"]
    assert told["value"] == pytest.approx(accuracy)
    sources = {
        node.key: describe(node, lineage, ns)["files"]
        for node in lineage.reach(score, "down")
        if node.kind == "snapshot" and not lineage.links(node, "down")
    }
    assert set(sources) == {"public/words/raw"}
    assert all(len(file["sha256"]) == 64 for file in sources["public/words/raw"])
    (raw,) = find_nodes("public/words/raw", lineage, ns)
    touched = [node for node in lineage.reach(raw, "up") if node.kind == "snapshot" and Key(node.key).is_line]
    assert [node.version for node in touched] == [version]
    assert {f"run {run.run}" for run in (first, scored, further)} <= {node.id for node in lineage.reach(raw, "up")}
