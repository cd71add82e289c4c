"""Calling a factory's stage by hand, in a test or a notebook, on tables instead of snapshots."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aifactory.errors import FactoryError

if TYPE_CHECKING:
    import pyarrow as pa

    from aifactory.datasets.stage import Stage


def call(stage: Stage, *arguments: Any, **named: Any) -> Any:
    """`split`: a table -> {part: table}. `tokenizer`: a table -> BPE. `suite`: its test part's table, as it is.

    A source and a stage of tokens make files, so they have nothing to return: FactoryError, code "not_callable".
    """
    if stage.factory == "split":
        return _split(stage.parameters, *arguments, **named)
    if stage.factory == "tokenizer":
        return _train(stage.parameters, *arguments, **named)
    if stage.factory == "suite":
        return arguments[0] if arguments else named["stage"]
    raise FactoryError(
        f"{stage.label}: a stage of {stage.kind} makes files, so it can't be called",
        expected="a stage made by @dataset, split, tokenizer or suite",
        fix="build it: launch(plan(stage))",
        code="not_callable",
    )


def _split(parameters: dict[str, Any], stage: pa.Table) -> dict[str, pa.Table]:
    import pyarrow.compute as pc

    from aifactory.data.split import PARTS, parts_of

    shares = {part: parameters[part] for part in PARTS}
    parts = parts_of(stage[parameters["by"]], shares, parameters["seed"]).dictionary_decode()
    return {part: stage.filter(pc.equal(parts, part)) for part in PARTS if shares[part] > 0}


def _train(parameters: dict[str, Any], stage: pa.Table) -> Any:
    from aifactory.data.bpe import train_bpe

    return train_bpe(stage[parameters["text"]].to_pylist(), parameters["vocabulary"])
