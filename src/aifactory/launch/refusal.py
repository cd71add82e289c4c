"""A refusal: one reason not to launch, and the error that carries all of them."""

from __future__ import annotations

from dataclasses import dataclass

from aifactory.errors import FactoryError


@dataclass(frozen=True)
class Refusal:
    """One reason: a stable code, the object, both values, and the command or edit that mends it."""

    code: str
    what: str
    found: str = ""
    expected: str = ""
    fix: str = ""

    def __str__(self) -> str:
        lines = [f"[{self.code}] {self.what}"]
        lines += [f"  {name}: {value}" for name, value in self.values() if value]
        return "\n".join(lines)

    def values(self) -> list[tuple[str, str]]:
        return [("found", self.found), ("expected", self.expected), ("fix", self.fix)]


class GateRefused(FactoryError):
    """Every reason at once, in `refusals`. The process exits 3."""

    def __init__(self, refusals: list[Refusal], *, what: str = "the gate refused this run"):
        self.refusals, self.of = refusals, what
        super().__init__(
            f"{what}:\n" + "\n".join(str(refusal) for refusal in refusals),
            code=refusals[0].code if len(refusals) == 1 else "refused",
        )

    def __reduce__(self) -> tuple[object, ...]:
        return (_again, (self.refusals, self.of))

    def beside(self, more: list[Refusal]) -> GateRefused:
        """The same with further reasons."""
        return GateRefused([*self.refusals, *more], what=self.of)


def _again(refusals: list[Refusal], what: str) -> GateRefused:
    return GateRefused(refusals, what=what)
