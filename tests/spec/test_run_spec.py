"""RunSpec: one meaning, one hash; an edited file is refused."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aifactory.errors import FactoryError
from aifactory.spec import Config, Context, ImageRef, InputRef, Kind, Mix, RunSpec, config_schema
from tests.spec.factories import IMAGE, OTHER, VERSION, build_spec, evaluate_spec, small_train, train_inputs, train_spec

SPECS = {"build": build_spec, "train": train_spec, "evaluate": evaluate_spec}


def leaves(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    if isinstance(value, dict | list) and value:
        for name, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(item, (*path, name))
    else:
        yield path, value


def shuffled(value: Any, draw: st.DataObject) -> Any:
    """The same JSON with other field orders and other spellings of its floats."""
    if isinstance(value, dict):
        names = draw.draw(st.permutations(sorted(value)))
        return {name: shuffled(value[name], draw) for name in names}
    if isinstance(value, list):
        return [shuffled(item, draw) for item in value]
    if isinstance(value, float) and value.is_integer():
        return draw.draw(st.sampled_from([int(value), value]))
    return value


@pytest.mark.parametrize("kind", SPECS)
@given(st.data())
def test_one_meaning_has_one_hash(kind: str, data: st.DataObject) -> None:
    spec = SPECS[kind]()
    document = shuffled(spec.document(), data)
    document["inputs"] = data.draw(st.permutations(document["inputs"]))
    assert RunSpec.model_validate(document).hash == spec.hash
    assert RunSpec.load(spec.to_bytes()).hash == spec.hash


@given(st.floats(min_value=0, max_value=1e300), st.floats(min_value=1e-300, max_value=1e300))
def test_a_frozen_spec_is_read_back_as_it_was_written(clip: float, rate: float) -> None:
    spec = train_spec(small_train(**{"optimizer.clip": clip, "optimizer.learning_rate": rate}))
    loaded = RunSpec.load(spec.to_bytes(), hash=spec.hash)
    assert loaded.train == spec.train
    assert loaded.to_bytes() == spec.to_bytes()


CHANGES: list[dict[str, Any]] = [
    {"model.hidden": 128},
    {"model.layers": 3},
    {"model.context": 256},
    {"model.heads": 8},
    {"model.query_groups": 2},
    {"model.ffn": 128},
    {"mix.unit": "sample"},
    {"steps": 101},
    {"batch.sequences": 32},
    {"batch.micro": 4},
    {"optimizer.learning_rate": 0.1},
    {"optimizer.weight_decay": 0.0},
    {"optimizer.betas.0": 0.8},
    {"optimizer.betas.1": 0.99},
    {"optimizer.clip": 0},
    {"schedule.kind": "constant"},
    {"schedule.warmup": 1},
    {"schedule.minimum": 0},
    {"checkpointing.count": 4},
    {"checkpointing": {"every": 10}},
    {"parallelism.data": 2},
    {"precision": "bf16"},
    {"seed": 1},
    {"threads": 2},
]


def test_any_change_of_the_config_gives_another_hash() -> None:
    hashes = [train_spec().hash, *(train_spec(small_train(**change)).hash for change in CHANGES)]
    assert len(set(hashes)) == len(hashes)


def test_every_field_of_a_training_is_among_the_changes() -> None:
    changed = {path for change in CHANGES for path in change}
    fixed = {"mix.sources.0.weight", "mix.sources.0.key", "model.vocabulary", "schedule.decay", "checkpointing.every"}
    # One value in this release.
    fixed |= {"parallelism.tensor", "parallelism.pipeline", "parallelism.expert"}
    assert {".".join(map(str, path)) for path, _ in leaves(small_train().document())} - fixed <= changed


@pytest.mark.parametrize("kind", SPECS)
@given(st.data())
def test_any_change_of_any_value_in_the_identity_gives_another_hash(kind: str, data: st.DataObject) -> None:
    spec = SPECS[kind]()
    record = json.loads(spec.to_bytes())
    path, value = data.draw(st.sampled_from(list(leaves(record["spec"]))))
    other = data.draw(st.one_of(st.integers(0, 9), st.text(max_size=3), st.booleans(), st.none(), st.floats(0, 1)))
    node = record["spec"]
    for segment in path[:-1]:
        node = node[segment]
    node[path[-1]] = other
    if value == other and type(value) is not bool and type(other) is not bool:
        assert RunSpec.load(json.dumps(record).encode()).hash == spec.hash
        return
    if value is other:
        return
    with pytest.raises(FactoryError) as caught:
        RunSpec.load(json.dumps(record).encode())
    assert caught.value.code == "edited"
    assert spec.hash in str(caught.value)


def test_inputs_and_image_are_identity() -> None:
    spec = train_spec()
    dataset, tokenizer = spec.inputs
    variants = [
        {"inputs": (dataset, tokenizer.evolve({"version": VERSION}))},
        {"inputs": (dataset.evolve({"version": OTHER}), tokenizer)},
        {"inputs": (dataset, tokenizer.evolve({"key": "public/icd10cm/bpe16k"}))},
        {"image": ImageRef(name="data", digest=IMAGE.digest)},
        {"image": ImageRef(name="train", digest="00" * 32)},
        {"kind": "smoke"},
    ]
    hashes = {RunSpec(**{**dict(spec), **variant}).hash for variant in variants}
    assert len(hashes | {spec.hash}) == len(variants) + 1


@given(st.builds(dict, cluster=st.text(max_size=5), queue=st.none() | st.text(max_size=5), requester=st.text()))
def test_no_change_of_the_context_changes_the_hash(changes: dict[str, Any]) -> None:
    spec = train_spec()
    before, names = spec.hash, set(RunSpec.model_fields)
    Context(**changes)
    assert spec.hash == before
    # Nothing that the context holds has a place in the identity.
    assert not names & set(Context.model_fields)


def test_an_evaluation_names_its_suites_in_one_order() -> None:
    assert evaluate_spec().evaluate.suites == ("public/icd10cm/chapters", "public/icd10cm/heldout")


def test_a_path_is_loaded_and_compared_with_the_hash_that_is_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "spec.json"
    path.write_bytes(train_spec().to_bytes())
    assert RunSpec.load(path) == RunSpec.load(path, hash=train_spec().hash)
    with pytest.raises(FactoryError) as caught:
        RunSpec.load(path, hash="0" * 64)
    assert caught.value.code == "edited"
    assert "0" * 64 in str(caught.value)
    assert train_spec().hash in str(caught.value)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"3", b'{"hash": "x"}', b'{"spec": {}}', b"\xff", b"null"])
def test_a_torn_file_is_refused(data: bytes) -> None:
    with pytest.raises(FactoryError) as caught:
        RunSpec.load(data)
    assert caught.value.code == "edited"


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(FactoryError) as caught:
        RunSpec.load(tmp_path / "spec.json")
    assert caught.value.code == "no_spec"


def rehashed(document: dict[str, Any]) -> bytes:
    from aifactory.store import digest

    return json.dumps({"hash": digest(document), "spec": document}).encode()


def test_an_unknown_schema_is_refused_with_both_numbers() -> None:
    with pytest.raises(FactoryError) as caught:
        RunSpec.load(rehashed({**train_spec().document(), "schema": 2}))
    assert caught.value.code == "unknown_schema"
    assert (caught.value.found, caught.value.expected) == (2, 1)


def test_a_spec_from_before_a_field_existed_keeps_its_hash_and_its_bytes() -> None:
    document: dict[str, Any] = train_spec().document()
    del document["config"]["threads"]
    old = RunSpec.load(rehashed(document))
    assert old.train.threads == 1
    assert old.hash != train_spec().hash
    assert RunSpec.load(old.to_bytes()).hash == old.hash
    assert "threads" not in json.loads(old.to_bytes())["spec"]["config"]


def refused(*words: str, **changes: Any) -> None:
    base: RunSpec = changes.pop("base", train_spec())
    with pytest.raises(FactoryError) as caught:
        RunSpec(**{**dict(base), **changes})
    for word in words:
        assert word in str(caught.value)


def test_a_spec_whose_parts_do_not_belong_together_is_refused() -> None:
    dataset, tokenizer = train_inputs()
    evaluation = evaluate_spec()
    kind: Kind = "evaluate"
    refused("Train", "Evaluate", kind=kind)
    refused("still open", "model.vocabulary", config=small_train())
    refused("public/icd10cm/ready", "none", inputs=(tokenizer,))
    refused("exactly one", "tokenizer", inputs=(dataset,))
    refused("part=val", "train", inputs=(dataset.evolve({"part": "val"}), tokenizer))
    refused("part=None", inputs=(dataset.evolve({"part": None}), tokenizer))
    refused("named twice", inputs=(dataset, tokenizer, tokenizer.evolve({"version": VERSION})))
    refused("public/other", config=small_train().evolve({"mix": Mix.of({"public/other": 1.0})}).resolved(8192))
    refused("checkpoint or model", base=evaluation, inputs=evaluation.inputs_of("suite"))
    refused("suite inputs", base=evaluation, inputs=evaluation.inputs[:2])
    with pytest.raises(FactoryError, match="has no parts"):
        InputRef(role="tokenizer", kind="tokenizer", key="public/a", version=VERSION, part="train")


def test_an_input_is_found_by_its_role() -> None:
    assert train_spec().input("tokenizer").kind == "tokenizer"
    assert train_spec().input("mix").name == f"public/icd10cm/ready@{VERSION[:16]}"
    with pytest.raises(FactoryError) as caught:
        evaluate_spec().input("suite")
    assert caught.value.code == "no_input"


def test_the_schema_digest_follows_names_types_and_defaults_alone() -> None:
    from aifactory.spec.schema import fields_of

    class One(Config):
        """A doc."""

        a: int = 1
        b: tuple[float, float] = (1.0, 2.0)

    class Two(Config):
        """Another."""

        b: tuple[float, float] = (1.0, 2.0)
        a: int = 1

    class Three(Config):
        a: int = 2
        b: tuple[float, float] = (1.0, 2.0)

    class Four(Config):
        a: float = 1
        b: tuple[float, float] = (1.0, 2.0)

    one, two, three, four = (fields_of(kind)[kind.__name__] for kind in (One, Two, Three, Four))
    assert one == two
    assert three != one
    assert four != one
    assert len(config_schema()) == 64
    assert {"RunSpec", "Train", "GPT", "Build", "CheckSpec", "Evaluate", "InputRef"} <= set(fields_of(RunSpec))
