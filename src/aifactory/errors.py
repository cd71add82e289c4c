"""The one error that people are meant to read."""

from __future__ import annotations


class FactoryError(Exception):
    """Says what is wrong with which object, both values, and the command or edit that mends it.

    `what` names the object and the problem; `found` and `expected` are the two values, where there are two;
    `fix` is an imperative sentence. `code` is a stable word that tests and overrides can name.
    """

    def __init__(self, what: str, *, found: object = None, expected: object = None, fix: str = "", code: str = "error"):
        self.what, self.found, self.expected, self.fix, self.code = what, found, expected, fix, code
        super().__init__(what, found, expected, fix, code)

    def __str__(self) -> str:
        parts = [self.what]
        if self.found is not None:
            parts.append(f"found: {self.found}")
        if self.expected is not None:
            parts.append(f"expected: {self.expected}")
        if self.fix:
            parts.append(f"fix: {self.fix}")
        return "\n  ".join(parts)

    def __reduce__(self) -> tuple[object, ...]:
        return (_rebuild, (type(self), self.what, self.found, self.expected, self.fix, self.code))


def _rebuild(kind: type[FactoryError], what: str, found: object, expected: object, fix: str, code: str) -> FactoryError:
    return kind(what, found=found, expected=expected, fix=fix, code=code)
