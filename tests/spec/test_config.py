"""Configs: one canonical form, typed changes, errors that name both values."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from aifactory.errors import FactoryError
from aifactory.spec import GPT, Batch, Build, Checkpointing, CheckSpec, Mix, Optimizer, Parallelism, Schedule, Train
from tests.spec.factories import build_spec, small_train


def refused(make: object, *words: str, code: str = "config") -> None:
    with pytest.raises(FactoryError) as caught:
        make()  # type: ignore[operator]
    assert caught.value.code == code
    for word in words:
        assert word in str(caught.value)


def test_every_default_is_visible_in_the_dump() -> None:
    document = small_train().document()
    assert document["optimizer"] == {"learning_rate": 3e-3, "weight_decay": 0.1, "betas": [0.9, 0.95], "clip": 1.0}
    assert document["parallelism"] == {"data": 1, "tensor": 1, "pipeline": 1, "expert": 1}
    assert document["seed"] == 0
    assert document["threads"] == 1
    assert document["model"]["ffn"] is None  # type: ignore[index]


def test_a_config_is_frozen_and_hashable() -> None:
    config = small_train()
    with pytest.raises(ValidationError, match="frozen"):
        config.seed = 1  # type: ignore[misc]
    assert {config, small_train()} == {config}
    assert len({build_spec(), build_spec()}) == 1


@given(st.integers(min_value=1, max_value=10**6))
def test_an_integer_and_the_equal_float_are_one_value_in_a_float_field(number: int) -> None:
    assert Optimizer(clip=number).canonical() == Optimizer(clip=float(number)).canonical()


@given(st.floats(min_value=1e-300, max_value=1e300))
def test_evolving_to_the_same_value_changes_nothing(rate: float) -> None:
    config = Optimizer(learning_rate=rate)
    assert config.evolve({"learning_rate": rate}) == config
    assert Optimizer.model_validate(config.document()).canonical() == config.canonical()


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "0.1", True, None])
def test_what_is_no_number_is_refused(value: object) -> None:
    refused(lambda: Optimizer(learning_rate=value), "Optimizer.learning_rate", repr(value))  # type: ignore[arg-type]


@pytest.mark.parametrize("value", [1.5, 2.0, "2", True, 0, -1, 2**53])
def test_what_is_no_count_is_refused(value: object) -> None:
    refused(lambda: Batch(sequences=value), "Batch.sequences", repr(value))  # type: ignore[arg-type]


@pytest.mark.parametrize("parameters", [{"a": float("nan")}, {"a": [2**53]}, {"a": b"x"}, {"a": {1: 2}}])
def test_parameters_without_a_canonical_form_are_refused(parameters: dict[str, object]) -> None:
    refused(lambda: CheckSpec(name="a", kind="b", parameters=parameters), "CheckSpec.parameters")  # type: ignore[arg-type]


def test_parameters_are_copied_when_a_config_is_made() -> None:
    parameters = {"columns": ["a"]}
    check = CheckSpec(name="a", kind="b", parameters=parameters)  # type: ignore[arg-type]
    parameters["columns"].append("b")
    assert check.parameters == {"columns": ["a"]}


def test_an_unknown_field_is_named() -> None:
    refused(lambda: GPT(layers=1, hidden=8, heads=1, context=8, depth=3), "GPT.depth")  # type: ignore[call-arg]


def test_all_wrong_fields_are_named_at_once() -> None:
    refused(lambda: GPT(layers=0, hidden="x", heads=1), "GPT.layers", "GPT.hidden", "GPT.context")  # type: ignore


def test_the_arithmetic_of_a_refusal_is_spelled_out() -> None:
    refused(lambda: GPT(layers=1, hidden=65, heads=4, context=8), "65 % 4 = 1", "set hidden to 64")
    refused(lambda: GPT(layers=1, hidden=64, heads=4, query_groups=3, context=8), "4 % 3 = 1")
    refused(lambda: small_train(**{"batch.sequences": 15, "parallelism.data": 2}), "15 % 2 = 1")
    refused(
        lambda: small_train(**{"batch.sequences": 16, "batch.micro": 3, "parallelism.data": 2}),
        "2 x 3 = 6",
        "16 % 6 = 4",
        "set batch.sequences to 12",
    )
    refused(lambda: small_train(**{"schedule.warmup": 101}), "101 + 0 > 100")
    refused(lambda: small_train(**{"schedule": Schedule(kind="wsd", warmup=60, decay=50)}), "60 + 50 > 100")
    refused(lambda: small_train(**{"checkpointing.count": 101}), "101 > 100")


def test_what_this_release_has_not_is_refused_by_name() -> None:
    refused(lambda: Parallelism(data=2, tensor=2), "tensor parallelism", "tensor=2", "tensor=1")
    refused(lambda: Mix.of({"public/a/ready": 1.0, "public/b/ready": 1.0}), "public/a/ready, public/b/ready")
    refused(lambda: Mix.of({}), "no source")
    refused(lambda: Checkpointing(every=5, count=3), "every=5, count=3")
    refused(lambda: Schedule(kind="cosine", decay=3), "wsd")


class Stage:
    """What a mix needs to know of a stage."""

    key: str | None = None


def test_a_mix_takes_stages_whose_key_is_bound_by_then() -> None:
    stage = Stage()
    refused(lambda: Mix.of({stage: 1.0}), "has no key", code="unbound")
    stage.key = "public/icd10cm/ready"
    assert Mix.of({stage: 1.0}) == Mix.of({"public/icd10cm/ready": 1})
    refused(lambda: Mix.of({3: 1.0}), "neither a stage nor a key", "3 (int)")


@pytest.mark.parametrize("key", ["", "public", "public/../x", "Public/a", "public/a@1", "/factory/public/a"])
def test_a_mix_refuses_hostile_keys(key: str) -> None:
    with pytest.raises(FactoryError):
        Mix.of({key: 1.0})


def test_a_resolved_training_has_no_open_field_and_resolving_again_changes_nothing() -> None:
    config = small_train(**{"parallelism.data": 2, "schedule.kind": "wsd", "mix.sources.0.weight": 7})
    assert config.open_fields() == (
        "model.query_groups",
        "model.ffn",
        "model.vocabulary",
        "batch.micro",
        "schedule.decay",
    )
    resolved = config.resolved(8192)
    assert resolved.open_fields() == ()
    assert resolved.resolved(8192) == resolved
    assert (resolved.model.ffn, resolved.model.query_groups, resolved.model.vocabulary) == (256, 4, 8192)
    assert (resolved.batch.micro, resolved.schedule.decay, resolved.mix.sources[0].weight) == (8, 10, 1.0)
    refused(lambda: resolved.resolved(100), "vocabulary=8192", "100")


def test_a_wider_variant_keeps_the_proportions() -> None:
    assert small_train(**{"model.hidden": 128}).resolved(8192).model.ffn == 512


@given(st.integers(1, 500), st.data())
def test_checkpoints_are_ordered_distinct_and_end_with_the_last_step(total: int, data: st.DataObject) -> None:
    number = data.draw(st.integers(1, total))
    for saved in (Checkpointing(count=number), Checkpointing(every=number), Checkpointing()):
        steps = saved.steps(total)
        assert steps[-1] == total
        assert list(steps) == sorted(set(steps))
        assert steps[0] >= 1
    assert len(Checkpointing(count=number).steps(total)) == number


def test_checks_of_a_build_are_sorted_and_named_once() -> None:
    build = build_spec().build
    first, second = CheckSpec(name="a", kind="rows"), CheckSpec(name="b", kind="rows")
    assert Build(**{**dict(build), "checks": (second, first)}).checks == (first, second)
    refused(lambda: Build(**{**dict(build), "checks": (first, first)}), "two checks of one name")


def test_train_is_validated_as_a_whole_after_all_changes() -> None:
    both = {"parallelism.data": 3, "batch.sequences": 15}
    assert small_train(**both).batch.sequences == 15
    assert isinstance(small_train().evolve(both), Train)
