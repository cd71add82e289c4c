"""Which rows of a suite are scored: a sample that depends on their content alone. No torch."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence


def sample(texts: Sequence[str], items: int) -> list[int]:
    """Indexes of at most `items` of the rows that `texts` identify, in the order of the rows.

    Rows are ordered by a hash of their text (equal ones by place) and the first are taken, so a row that is added later
    takes the place of at most one other.
    """
    order = sorted(range(len(texts)), key=lambda n: (hashlib.sha256(texts[n].encode()).digest(), n))
    return sorted(order[:items])
