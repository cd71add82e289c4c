"""Every field of a spec decides its hash, and no spelling does. Fields are read from the types: a new one that no case
changes fails here."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Literal, get_args, get_origin

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aifactory.errors import FactoryError
from aifactory.spec import Build, Config, Evaluate, Recipe, RunSpec, Train
from tests.spec.factories import OTHER, build_spec, evaluate_spec, small_train, started_spec, train_spec

Changes = dict[str, Any]


def smoke_spec() -> RunSpec:
    return train_spec().evolve({"kind": "smoke"})


BASES = {"build": build_spec, "train": train_spec, "evaluate": evaluate_spec, "smoke": smoke_spec}
CONFIGS: dict[str, type[Config]] = {"build": Build, "train": Train, "evaluate": Evaluate, "smoke": Train}

STARTED: Changes = {
    "config.start": started_spec().train.start,
    "inputs": [one.document() for one in started_spec().inputs],
}
# What is set first, and what is then changed: exactly the second must give another hash.
COMMON: list[tuple[Changes, Changes]] = [
    ({}, {"image.digest": "00" * 32}),
    ({}, {"inputs.0.version": "12" * 32}),
]
TRAIN: list[tuple[Changes, Changes]] = [
    ({}, {"image.name": "data"}),
    ({}, {"inputs.1.role": "words"}),
    ({}, {"inputs.1.key": "public/icd10cm/bpe16k"}),
    ({}, {"config.model.layers": 3}),
    ({}, {"config.model.hidden": 128}),
    ({}, {"config.model.heads": 8}),
    ({}, {"config.model.context": 256}),
    ({}, {"config.model.query_groups": 2}),
    ({}, {"config.model.ffn": 128}),
    ({}, {"config.model.vocabulary": 8193}),
    ({}, {"config.mix.sources.0.key": "public/other/ready", "inputs.0.key": "public/other/ready"}),
    ({}, {"config.mix.sources.0.weight": 0.5}),
    ({}, {"config.mix.unit": "sample"}),
    ({}, {"config.steps": 101}),
    ({}, {"config.batch.sequences": 32}),
    ({}, {"config.batch.micro": 4}),
    ({}, {"config.optimizer.learning_rate": 0.1}),
    ({}, {"config.optimizer.weight_decay": 0.0}),
    ({}, {"config.optimizer.betas": [0.8, 0.95]}),
    ({}, {"config.optimizer.betas": [0.9, 0.99]}),
    ({}, {"config.optimizer.clip": 0}),
    ({}, {"config.schedule.kind": "constant"}),
    ({}, {"config.schedule.warmup": 1}),
    ({}, {"config.schedule.minimum": 0}),
    ({"config.schedule.kind": "wsd", "config.schedule.decay": 7}, {"config.schedule.decay": 8}),
    ({}, {"config.checkpointing.count": 4}),
    ({"config.checkpointing": {"every": 10}}, {"config.checkpointing.every": 20}),
    ({}, {"config.parallelism.data": 2, "config.batch.micro": 8}),
    ({}, {"config.precision": "bf16"}),
    ({}, {"config.seed": 1}),
    ({}, {"config.threads": 2}),
    (STARTED, {"config.start": "public/models/other", "inputs.1.key": "public/models/other"}),
    (STARTED, {"inputs.1.kind": "checkpoint"}),
]
CASES: dict[str, list[tuple[Changes, Changes]]] = {
    "train": [*TRAIN, ({}, {"kind": "smoke"})],
    "smoke": [*TRAIN, ({}, {"kind": "train"})],
    "build": [
        ({}, {"config.key": "public/icd10cm/cleaned"}),
        ({}, {"config.kind": "tokens"}),
        ({}, {"config.function": "assets.public.icd10cm:cleaned"}),
        ({}, {"config.code_version": "2"}),
        ({}, {"config.parameters.fraction": 0.25}),
        ({}, {"config.parameters": {}}),
        ({}, {"config.access": "private/oncology", "config.key": "private/oncology/clean"}),
        ({}, {"config.benchmark": True}),
        ({}, {"config.only_checks": True}),
        ({}, {"config.checks.0.name": "count"}),
        ({}, {"config.checks.0.kind": "at_least"}),
        ({}, {"config.checks.0.parameters": {"exact": 1}}),
        ({}, {"config.checks.0.blocking": False}),
        ({}, {"config.checks": []}),
        ({}, {"inputs.0.role": "source"}),
        ({}, {"inputs.0.kind": "tokenizer"}),
        ({}, {"inputs.0.key": "public/icd10cm/other"}),
        ({}, {"inputs": []}),
    ],
    "evaluate": [
        (
            {},
            {
                "config.suites": ["public/icd10cm/chapters", "public/icd10cm/other"],
                "inputs.2.key": "public/icd10cm/other",
            },
        ),
        (
            {},
            {
                "config.suites": ["public/icd10cm/chapters"],
                "inputs": [one.document() for one in evaluate_spec().inputs[:2]],
            },
        ),
        ({}, {"config.batch": 16}),
        ({}, {"config.seed": 1}),
        ({}, {"config.threads": 2}),
        ({}, {"inputs.0.kind": "model"}),
        ({}, {"inputs.1.part": None}),
        ({}, {"inputs.1.version": OTHER}),
    ],
}
ONE_VALUE = {f"config.parallelism.{name}" for name in ("tensor", "pipeline", "expert")}
"""Fields that have their final name, and a single value in this release."""


def configs_in(annotation: Any) -> Iterator[type[Config]]:
    if isinstance(annotation, type) and issubclass(annotation, Config):
        yield annotation
    for argument in get_args(annotation):
        yield from configs_in(argument)


def fields(model: type[Config], place: str = "") -> Iterator[str]:
    """Dotted paths of all that a config may hold, without the numbers of elements."""
    for name, field in model.model_fields.items():
        inner = list(configs_in(field.annotation))
        for one in inner:
            yield from fields(one, f"{place}{name}.")
        if not inner and not (get_origin(field.annotation) is Literal and len(get_args(field.annotation)) == 1):
            yield f"{place}{name}"


def numberless(path: str) -> str:
    return ".".join(segment for segment in path.split(".") if not segment.isdigit())


def changed(kind: str) -> set[str]:
    return {numberless(path) for _, change in [*COMMON, *CASES[kind]] for path in change}


@pytest.mark.parametrize("kind", CASES)
def test_every_field_of_a_config_is_changed_by_a_case(kind: str) -> None:
    known = {f"config.{path}" for path in fields(CONFIGS[kind])}
    assert "config.seed" in known or kind == "build"
    assert known - ONE_VALUE - changed(kind) == set()


def test_every_field_of_a_spec_is_changed_by_a_case() -> None:
    known = {path for path in fields(RunSpec) if not path.startswith("config.")}
    assert {"kind", "image.digest", "inputs.version", "inputs.part"} <= known
    assert known - set().union(*map(changed, CASES)) == set()


@pytest.mark.parametrize("path", sorted(ONE_VALUE))
def test_a_field_of_one_value_takes_no_other(path: str) -> None:
    with pytest.raises(FactoryError, match="not supported"):
        train_spec().evolve({path: 2})


@pytest.mark.parametrize("kind", CASES)
def test_any_change_of_the_identity_gives_another_hash(kind: str) -> None:
    seen: dict[str, object] = {}
    for first, change in [*COMMON, *CASES[kind]]:
        base = BASES[kind]().evolve(first)
        other = base.evolve(change)
        assert other.hash != base.hash, change
        assert RunSpec.load(other.to_bytes(), other.hash) == other
        assert other.hash not in seen, (change, seen.get(other.hash))
        seen[other.hash] = change


def spelled(value: Any, data: st.DataObject) -> str:
    """JSON text of the same meaning: fields in any order, numbers written in any way, spaces anywhere."""
    space = data.draw(st.sampled_from(["", " ", "\n\t"]))
    if isinstance(value, dict):
        names = data.draw(st.permutations(sorted(value)))
        return "{" + ",".join(f"{space}{json.dumps(name)}:{spelled(value[name], data)}" for name in names) + "}"
    if isinstance(value, list):
        return "[" + ",".join(spelled(one, data) + space for one in value) + "]"
    if isinstance(value, float):
        ways = [repr(value), f"{value:.17g}", f"{value:.17e}", f"{value:.20E}"]
        return data.draw(st.sampled_from([way for way in ways if float(way) == value]))
    return json.dumps(value, ensure_ascii=data.draw(st.booleans()))


@pytest.mark.parametrize("kind", BASES)
@settings(max_examples=25)
@given(data=st.data())
def test_no_spelling_of_a_document_changes_the_hash(kind: str, data: st.DataObject) -> None:
    spec = BASES[kind]()
    document = json.loads(spelled(spec.document(), data))
    document["inputs"] = data.draw(st.permutations(document["inputs"]))
    for name in ("checks", "suites"):
        if name in document["config"]:
            document["config"][name] = data.draw(st.permutations(document["config"][name]))
    assert RunSpec.model_validate(document).hash == spec.hash
    record = '{"spec": ' + spelled(spec.document(), data) + f', "hash": "{spec.hash}"' + "}"
    assert RunSpec.load(record.encode()).hash == spec.hash


OVERRIDES = {
    "optimizer.learning_rate": ["0.001", "1e-3", "1E-03", "0.00100"],
    "optimizer.clip": ["1", "1.0", "1e0"],
    "steps": ["200"],
    "schedule.minimum": ["0", "0.0", "-0.0"],
    "optimizer.betas": ["[0.9,0.95]", "[0.90, 9.5e-1]"],
}


@settings(max_examples=25)
@given(data=st.data())
def test_no_order_and_no_spelling_of_overrides_changes_the_hash(data: st.DataObject) -> None:
    recipe = Recipe(function=small_train, line="public/models/tiny", scored_on=())
    base = train_spec(recipe.build([f"{path}={ways[0]}" for path, ways in OVERRIDES.items()]))
    names = data.draw(st.permutations(sorted(OVERRIDES)))
    texts = [f"{name}={data.draw(st.sampled_from(OVERRIDES[name]))}" for name in names]
    assert train_spec(recipe.build(texts)).hash == base.hash
