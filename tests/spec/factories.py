"""Specs with made-up input versions, for tests."""

from __future__ import annotations

from aifactory.spec import (
    GPT,
    Build,
    Checkpointing,
    CheckSpec,
    Evaluate,
    ImageRef,
    InputRef,
    Mix,
    RunSpec,
    Train,
)

VERSION = "ab" * 32
OTHER = "cd" * 32
IMAGE = ImageRef(name="train", digest="ef" * 32)


def small_train(**changes: object) -> Train:
    """A training of 100 steps on public/icd10cm/ready, with open fields."""
    base = Train(
        model=GPT(layers=2, hidden=64, heads=4, context=128),
        mix=Mix.of({"public/icd10cm/ready": 1.0}),
        steps=100,
        checkpointing=Checkpointing(count=3),
    )
    return base.evolve(changes)


def train_inputs(key: str = "public/icd10cm/ready") -> tuple[InputRef, ...]:
    return (
        InputRef(role="mix", kind="dataset", key=key, version=VERSION, part="train"),
        InputRef(role="tokenizer", kind="tokenizer", key="public/icd10cm/bpe8k", version=OTHER),
    )


def train_spec(config: Train | None = None) -> RunSpec:
    resolved = (config or small_train()).resolved(8192)
    return RunSpec(kind="train", config=resolved, inputs=train_inputs(resolved.mix.keys[0]), image=IMAGE)


def started_spec() -> RunSpec:
    """A training whose step 0 begins with the weights of a line."""
    line = "public/models/small"
    start = InputRef(role="start", kind="model", key=line, version=VERSION)
    config = small_train(start=line).resolved(8192)
    return RunSpec(kind="train", config=config, inputs=(*train_inputs(), start), image=IMAGE)


def build_spec() -> RunSpec:
    return RunSpec(
        kind="build",
        config=Build(
            key="public/icd10cm/clean",
            kind="table",
            function="assets.public.icd10cm:clean",
            code_version="1",
            parameters={"fraction": 0.5},
            access="public",
            checks=(CheckSpec(name="rows", kind="rows", parameters={"exact": 98505}),),
        ),
        inputs=(InputRef(role="raw", kind="dataset", key="public/icd10cm/raw", version=VERSION),),
        image=ImageRef(name="data", digest="01" * 32),
    )


def evaluate_spec() -> RunSpec:
    return RunSpec(
        kind="evaluate",
        config=Evaluate(suites=("public/icd10cm/heldout", "public/icd10cm/chapters")),
        inputs=(
            InputRef(role="suite", kind="suite", key="public/icd10cm/chapters", version=VERSION, part="test"),
            InputRef(role="suite", kind="suite", key="public/icd10cm/heldout", version=VERSION, part="test"),
            InputRef(role="checkpoint", kind="checkpoint", key="public/models/tiny", version=OTHER),
        ),
        image=IMAGE,
    )
