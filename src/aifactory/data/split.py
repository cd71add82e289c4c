"""Which part a row belongs to: decided by its group's content alone, so that new rows move no old row."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from aifactory.errors import FactoryError

PARTS = ("train", "val", "test")
_SPACE = 1 << 64


def part_of(group: str | int, shares: Mapping[str, float], seed: int = 0) -> str:
    """The part of every row of `group`: "train", "val" or "test".

    `shares` are fractions by part that sum to 1 (a missing part has none; the order of the mapping does not matter).
    Depends on `group`, `shares` and `seed` only; an integer is its decimal text. Growing `train` at the cost of the
    others moves no group out of train.
    """
    return _part(_text(group), _limits(shares), seed)


def parts_of(column: pa.Array | pa.ChunkedArray, shares: Mapping[str, float], seed: int = 0) -> pa.DictionaryArray:
    """`part_of` for a column of strings or integers, one hash per distinct value: a dictionary array of part names.

    Raises FactoryError (code "group") on a null or on another type, since such a row has no group to stay with.
    """
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    if not (
        pa.types.is_string(column.type) or pa.types.is_large_string(column.type) or pa.types.is_integer(column.type)
    ):
        raise FactoryError(
            "the group column can't be hashed",
            found=str(column.type),
            expected="strings or integers",
            fix="split by a column of strings or integers",
            code="group",
        )
    if column.null_count:
        raise FactoryError(
            "the group column holds nulls",
            found=f"{column.null_count} of {len(column)} rows",
            expected="a group for every row",
            fix="give every row a group, or drop the row and count it",
            code="group",
        )
    limits = _limits(shares)
    encoded = pc.dictionary_encode(column)
    names = [PARTS.index(_part(_text(value), limits, seed)) for value in encoded.dictionary.to_pylist()]
    indices = pc.take(pa.array(names, pa.int8()), encoded.indices)
    return pa.DictionaryArray.from_arrays(indices, pa.array(PARTS))


def check_shares(shares: Mapping[str, float]) -> None:
    """Raises FactoryError (code "shares") unless these are fractions of known parts that sum to 1."""
    _limits(shares)


def _limits(shares: Mapping[str, float]) -> list[tuple[str, int]]:
    wrong = sorted(set(shares) - set(PARTS))
    fractions = [shares.get(part, 0.0) for part in PARTS]
    if wrong or any(not 0 <= f <= 1 for f in fractions) or not math.isclose(math.fsum(fractions), 1, abs_tol=1e-9):
        raise FactoryError(
            "the shares are not a division into parts",
            found=dict(shares),
            expected=f"fractions of {', '.join(PARTS)} that sum to 1",
            fix="for example train=0.9, val=0.05, test=0.05",
            code="shares",
        )
    limits = [(part, round(math.fsum(fractions[: n + 1]) * _SPACE)) for n, part in enumerate(PARTS)]
    last = max(n for n, f in enumerate(fractions) if f > 0)
    # The last part that has a share takes what rounding left over.
    return [(part, _SPACE if n >= last else limit) for n, (part, limit) in enumerate(limits)]


def _part(group: str, limits: list[tuple[str, int]], seed: int) -> str:
    point = int.from_bytes(hashlib.sha256(f"{seed}\0{group}".encode("utf-8", "surrogatepass")).digest()[:8], "big")
    return next(part for part, limit in limits if point < limit)


def _text(group: Any) -> str:
    if isinstance(group, str) or (isinstance(group, int) and not isinstance(group, bool)):
        return str(group)
    raise FactoryError(
        "a group must be a string or an integer", found=type(group).__name__, expected="str or int", code="group"
    )
