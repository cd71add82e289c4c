"""What a run sees of the namespace: reviewed files, and the rules that they follow."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from aifactory.errors import FactoryError
from aifactory.launch import mounts
from aifactory.namespace import Grant
from aifactory.spec import Build, ImageRef, InputRef, RunSpec
from tests.spec.factories import VERSION, build_spec, evaluate_spec, train_spec

GOLDEN = Path(__file__).parents[1] / "golden" / "mounts.json"
CHECKPOINT = "/factory/{}/runs/train-tiny-0123456789ab/checkpoints/step-00000100"


def private(spec: RunSpec, *, inputs: bool = True) -> RunSpec:
    """The same of the project clinic: what it makes, and (`inputs`) its data."""
    text = json.dumps(spec.identity()).replace("public/icd10cm", "private/clinic/notes")
    text = text.replace("public/models", "private/clinic/models").replace('"access": "public"', CLASS)
    made = RunSpec.model_validate(json.loads(text))
    if inputs:
        return made
    return RunSpec(kind=made.kind, config=made.config, inputs=spec.inputs, image=made.image)


CLASS = '"access": "private/clinic"'
PLACES = {"checkpoint": CHECKPOINT.format("public")}
PRIVATE_PLACES = {"checkpoint": CHECKPOINT.format("private/clinic")}
CASES = {
    "build, public": (build_spec(), "public", None),
    "build, private of public data": (private(build_spec(), inputs=False), "private/clinic", None),
    "checks alone, public": (
        RunSpec(
            kind="build",
            config=Build.model_validate({**build_spec().build.document(), "only_checks": True}),
            inputs=(InputRef(role="snapshot", kind="dataset", key="public/icd10cm/clean", version=VERSION),),
            image=ImageRef(name="data", digest="01" * 32),
        ),
        "public",
        None,
    ),
    "train, public": (train_spec(), "public", None),
    "train, private": (private(train_spec()), "private/clinic", None),
    "evaluate, public": (evaluate_spec(), "public", PLACES),
    "evaluate, private": (private(evaluate_spec()), "private/clinic", PRIVATE_PLACES),
}


def planned(name: str) -> list[str]:
    spec, of, places = CASES[name]
    found = mounts(spec, f"{spec.kind}-tiny-ba9876543210", of, places=places)
    return [f"{'ro' if one.read_only else 'rw'} {one.target}  # {one.why}" for one in found]


def test_the_mounts_of_each_kind_of_run_are_as_reviewed() -> None:
    written = json.dumps({name: planned(name) for name in CASES}, indent=2) + "\n"
    if os.environ.get("AIFACTORY_GOLDEN") == "write":
        GOLDEN.write_text(written)
    assert GOLDEN.read_text() == written, "review the change, then run this with AIFACTORY_GOLDEN=write"


@pytest.mark.parametrize("name", CASES)
def test_inputs_are_read_only_and_only_what_is_made_is_written(name: str) -> None:
    spec, of, places = CASES[name]
    found = mounts(spec, "run-1", of, places=places)
    written = {one.path for one in found if not one.read_only}
    assert written == {f"{of}/runs/run-1", *([spec.build.key] if spec.kind == "build" else [])}
    assert len([one for one in found if one.read_only]) == len({(ref.key, ref.version) for ref in spec.inputs})
    for one in found:
        assert one.source(Path("/mnt/lab")) == Path("/mnt/lab") / one.path
        assert one.target == f"/factory/{one.path}"


def test_private_data_is_never_mounted_into_a_public_run() -> None:
    for spec in (private(train_spec()), private(evaluate_spec())):
        with pytest.raises(FactoryError) as caught:
            mounts(spec, "train-1", "public", places=PRIVATE_PLACES)
        assert caught.value.code == "class"
        assert "/factory/private/clinic/" in str(caught.value)
        assert "a mount of the run train-1" in str(caught.value)


def test_a_checkpoint_has_the_class_of_the_place_where_it_lies() -> None:
    with pytest.raises(FactoryError) as caught:
        mounts(evaluate_spec(), "evaluate-1", "public", places=PRIVATE_PLACES)
    assert caught.value.code == "class"
    for places in (None, {}, {"checkpoint": "/factory/public"}, {"checkpoint": f"{CHECKPOINT.format('public')}/.."}):
        with pytest.raises(FactoryError) as caught:
            mounts(evaluate_spec(), "evaluate-1", "public", places=places)
        assert caught.value.code == "checkpoint"


def test_a_build_writes_its_own_class_only() -> None:
    with pytest.raises(FactoryError) as caught:
        mounts(build_spec(), "build-1", "private/clinic")
    assert (caught.value.code, caught.value.found, caught.value.expected) == ("class", "public", "private/clinic")
    assert "may not write /factory/public/icd10cm/clean" in str(caught.value)


def test_another_project_s_data_is_mounted_under_a_written_grant_alone() -> None:
    spec = private(train_spec())
    grant = Grant("private/clinic", "private/oncology", "board")
    assert [one.access for one in mounts(spec, "train-1", "private/oncology", grants=[grant])] == [
        "private/clinic",
        "private/clinic",
        "private/oncology",
    ]
    with pytest.raises(FactoryError, match="grant from private/clinic to private/oncology"):
        mounts(spec, "train-1", "private/oncology")
