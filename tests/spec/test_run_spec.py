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
from aifactory.spec import Config, InputRef, Kind, Mix, RunSpec, config_schema
from tests.spec.factories import VERSION, build_spec, evaluate_spec, small_train, train_inputs, train_spec

SPECS = {"build": build_spec, "train": train_spec, "evaluate": evaluate_spec}


def leaves(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    if isinstance(value, dict | list) and value:
        for name, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(item, (*path, name))
    else:
        yield path, value


@given(st.floats(min_value=0, max_value=1e300), st.floats(min_value=1e-300, max_value=1e300))
def test_a_frozen_spec_is_read_back_as_it_was_written(clip: float, rate: float) -> None:
    spec = train_spec(small_train(**{"optimizer.clip": clip, "optimizer.learning_rate": rate}))
    loaded = RunSpec.load(spec.to_bytes(), hash=spec.hash)
    assert loaded.train == spec.train
    assert loaded.to_bytes() == spec.to_bytes()


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
