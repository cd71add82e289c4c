"""Canonical JSON (RFC 8785): one spelling for one value, so that a digest names content."""

from __future__ import annotations

import hashlib

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


def digest(value: object) -> str:
    """SHA-256 over `canonical(value)`, as 64 lower-case hexadecimal digits."""
    return hashlib.sha256(canonical(value)).hexdigest()
