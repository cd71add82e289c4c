"""Overrides: dotted, typed, never ignored."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aifactory.errors import FactoryError
from aifactory.spec import BitsPerByte, Checkpointing, Config, MultipleChoice, Optimizer, Scorer, parse_overrides
from aifactory.spec.overrides import paths
from tests.spec.factories import build_spec, small_train


def caught(changes: dict[str, object]) -> FactoryError:
    with pytest.raises(FactoryError) as error:
        small_train().evolve(changes)
    return error.value


@pytest.mark.parametrize(
    ("path", "near"),
    [
        ("model.hiden", "model.hidden"),
        ("hidden", "model.hidden"),
        ("optimiser.learning_rate", "optimizer.learning_rate"),
        ("model.warmup", "schedule.warmup"),
        ("mix.sources.1.weight", "mix.sources.0.weight"),
        ("seeds", "seed"),
    ],
)
def test_an_unknown_path_names_close_matches(path: str, near: str) -> None:
    error = caught({path: 1})
    assert error.code == "unknown_override"
    assert path in str(error)
    assert near in str(error)


@pytest.mark.parametrize(
    "path", ["", ".", "model.", ".model", "model..hidden", "model.hidden.x", "mix.sources.-1", "mix.sources.٠.key"]
)
def test_a_malformed_path_is_unknown(path: str) -> None:
    assert caught({path: 1}).code == "unknown_override"


def test_all_unknown_paths_are_named_at_once() -> None:
    error = caught({"model.hiden": 1, "steps": 3, "sedd": 2})
    assert error.code == "unknown_override"
    assert error.found == "model.hiden, sedd"
    assert "for model.hiden perhaps model.hidden" in str(error.expected)
    assert "for sedd perhaps seed" in str(error.expected)


def test_an_override_that_changes_nothing_is_fine() -> None:
    assert small_train().evolve({"model.hidden": 64}) == small_train()
    assert small_train().evolve({}) == small_train()


def test_the_original_is_left_alone() -> None:
    config = small_train()
    config.evolve({"model.hidden": 128})
    assert config.model.hidden == 64


def test_one_path_within_another_is_a_conflict() -> None:
    error = caught({"checkpointing": Checkpointing(count=2), "checkpointing.count": 4})
    assert error.code == "conflicting_overrides"
    assert "checkpointing.count=4" in str(error)
    assert '"count": 2' in str(error)


def test_a_typed_value_is_not_read_from_text() -> None:
    error = caught({"model.hidden": "128"})
    assert error.code == "config"
    assert "'128'" in str(error)


def test_a_whole_part_may_be_replaced() -> None:
    optimizer = Optimizer(learning_rate=1e-3, betas=(0.8, 0.9))
    assert small_train().evolve({"optimizer": optimizer}).optimizer == optimizer
    assert small_train().evolve({"optimizer.betas": (0.8, 0.9)}).optimizer.betas == (0.8, 0.9)
    assert small_train().evolve({"optimizer.betas.1": 0.99}).optimizer.betas == (0.9, 0.99)


def test_text_is_read_by_the_type_of_its_field() -> None:
    texts = [
        "model.hidden=128",
        "model.ffn=none",
        "optimizer.learning_rate=1e-3",
        "optimizer.betas=[0.8, 0.9]",
        "optimizer.clip=.5",
        "schedule.kind=constant",
        "precision = bf16",
        "mix.sources.0.key=public/medquad/ready",
        "mix.unit=token",
        'parallelism={"data": 2}',
    ]
    config = small_train().evolve(parse_overrides(texts))
    assert (config.model.hidden, config.model.ffn, config.optimizer.learning_rate) == (128, None, 1e-3)
    assert (config.optimizer.betas, config.optimizer.clip, config.schedule.kind) == ((0.8, 0.9), 0.5, "constant")
    assert (config.precision, config.mix.keys, config.mix.unit) == ("bf16", ("public/medquad/ready",), "token")
    assert config.parallelism.data == 2


@pytest.mark.parametrize(
    ("text", "now"),
    [
        ("model.hidden=wide", "64"),
        ("model.hidden=128.5", "64"),
        ("model.hidden=true", "64"),
        ("model.hidden=", "64"),
        ("model.hidden=-3", "64"),
        ("optimizer.learning_rate=nan", "0.003"),
        ("optimizer.betas=[0.9]", "[0.9, 0.95]"),
        ("schedule.kind=linear", '"cosine"'),
        ("seed=none", "0"),
        ('parallelism={"tensor": 2}', '"tensor": 1'),
    ],
)
def test_text_of_the_wrong_type_is_refused_with_both_values(text: str, now: str) -> None:
    path, _, value = text.partition("=")
    error = caught(parse_overrides([text]))
    assert error.code == "override_value"
    assert path in str(error)
    assert repr(value) in str(error)
    assert now in str(error)


@pytest.mark.parametrize("text", ["model.hidden", "", "=3", "  =3"])
def test_text_without_a_path_and_a_value_is_refused(text: str) -> None:
    with pytest.raises(FactoryError) as error:
        parse_overrides([text])
    assert error.value.code == "override_syntax"


def test_one_path_with_two_values_is_a_conflict_and_with_one_value_is_none() -> None:
    with pytest.raises(FactoryError) as error:
        parse_overrides(["seed=1", "seed=2"])
    assert error.value.code == "conflicting_overrides"
    assert "seed=1 and seed=2" in str(error.value)
    assert list(parse_overrides(["seed=1", "seed=1"])) == ["seed"]


def test_a_value_may_hold_an_equals_sign() -> None:
    scorer = MultipleChoice(question="q", answer="a").evolve(parse_overrides(["prompt={question}=?"]))
    assert scorer.prompt == "{question}=?"


def test_free_parameters_are_changed_by_name() -> None:
    build = build_spec().build
    assert build.evolve({"parameters.fraction": 0.25}).parameters == {"fraction": 0.25}
    assert build.evolve(parse_overrides(["parameters.fraction=0.25"])).parameters == {"fraction": 0.25}
    with pytest.raises(FactoryError) as error:
        build.evolve({"parameters.fracton": 1})
    assert "parameters.fraction" in str(error.value)


class Holder(Config):
    """A config with a choice of types."""

    scorer: Scorer = BitsPerByte()


def test_a_choice_of_types_is_decided_by_its_kind() -> None:
    text = 'scorer={"kind": "multiple_choice", "question": "q", "answer": "a"}'
    assert Holder().evolve(parse_overrides([text])).scorer == MultipleChoice(question="q", answer="a")


def test_every_path_of_a_config_can_be_set_to_what_it_is() -> None:
    config = small_train().resolved(8192)
    for path in paths(config):
        value: object = config.document()
        for segment in path.split("."):
            value = value[int(segment)] if isinstance(value, list) else value[segment]  # type: ignore[index]
        assert config.evolve({path: value}) == config


@given(st.floats(min_value=1e-9, max_value=1e9), st.integers(1, 1000))
def test_text_and_typed_values_give_one_config(rate: float, seed: int) -> None:
    typed = small_train().evolve({"optimizer.learning_rate": rate, "seed": seed})
    text = small_train().evolve(parse_overrides([f"seed={seed}", f"optimizer.learning_rate={rate}"]))
    assert typed.canonical() == text.canonical()
