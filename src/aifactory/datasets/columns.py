"""Which columns a factory reads, and whether the rows have them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from aifactory.datasets.checks.reading import unknown_columns

if TYPE_CHECKING:
    from aifactory.datasets.stage import Stage


def need(key: str, columns: Sequence[str], known: Sequence[str]) -> None:
    """Raises FactoryError (code "unknown_column") for the columns that are not there, listing close matches."""
    missing = [name for name in columns if name not in known]
    if missing:
        raise unknown_columns(missing, known, key)


def scored(scorer: Mapping[str, Any]) -> list[str]:
    """The columns that a scorer's config names."""
    return [scorer[name] for name in ("question", "answer", "text") if name in scorer]


def check_columns(stage: Stage) -> None:
    """The same when definitions load, where the rows' type is known."""
    if stage.factory not in ("split", "tokenizer", "tokenize", "suite"):
        return
    above = stage.edges[0].stage
    schema = above.row_schema if above is not None else None
    if schema is None:
        return
    given = stage.parameters
    names = [given.get(name) for name in ("by", "text", "learn", "id", "group")]
    need(stage.label, [*filter(None, names), *scored(given.get("scorer", {}))], schema.names)
