"""Canonical JSON (RFC 8785): one spelling for one value, so that a digest names content."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import rfc8785

from aifactory.errors import FactoryError


def canonical(value: object) -> bytes:
    """`value` (dict, list, tuple, str, int, float, bool, None) as RFC 8785 JSON.

    Refuses NaN and infinities, integers of 2^53 and above, keys that are not strings, and any other type.
    A float without a fraction is spelled as the integer that it equals: 1.0 and 1 have one digest.
    """
    try:
        return rfc8785.dumps(value)  # type: ignore[arg-type]
    except (rfc8785.CanonicalizationError, UnicodeEncodeError, RecursionError) as error:
        raise FactoryError(
            "a record can't be written as canonical JSON",
            found=error,
            expected="strings, finite numbers, integers below 2^53, booleans, null, lists, dicts with string keys",
            fix="write a larger integer or an exact decimal as a string, and leave out NaN",
            code="canonical",
        ) from error


def parse(data: bytes) -> Any:
    """The value that `canonical` wrote; ValueError when `data` isn't JSON.

    RFC 8785 spells a float of 2^53 or more like an integer; here it becomes the float again, so that
    `canonical(parse(data)) == data` for everything that `canonical` returned.
    """
    try:
        return json.loads(data, parse_int=_number)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def digest(value: object) -> str:
    """SHA-256 over `canonical(value)`, as 64 lower-case hexadecimal digits."""
    return hashlib.sha256(canonical(value)).hexdigest()


def _number(digits: str) -> int | float:
    # Longer ones have no exact integer here, and Python refuses to parse more than 4,300 digits.
    return int(digits) if len(digits) < 17 and abs(int(digits)) < 2**53 else float(digits)
