"""Which part of the project this process executes: everything, or one access class."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

from aifactory.errors import FactoryError
from aifactory.namespace import Key, access
from aifactory.namespace.names import PREFIX

VARIABLE = "AIFACTORY_LOAD"
LOCATION = "aifactory"


@dataclass(frozen=True)
class Scope:
    """`access` is the class (`public`, `private/<project>`) whose stages, lines and runs this process executes; None:
    all of them."""

    access: str | None = None

    @classmethod
    def current(cls) -> Self:
        """What AIFACTORY_LOAD names, everything where it is not set. FactoryError (code "load") for no class."""
        text = os.environ.get(VARIABLE)
        if text is None:
            return cls()
        try:
            return cls(access.validate(text))
        except FactoryError as error:
            raise FactoryError(
                f"{VARIABLE} names no access class",
                found=repr(text),
                expected="public or private/<project>",
                fix=f"write one of the two forms, or unset {VARIABLE} to load everything",
                code="load",
            ) from error

    @property
    def location(self) -> str:
        """How the code location is called: `aifactory`, `aifactory-public`, `aifactory-private-<project>`."""
        return LOCATION if self.access is None else f"{LOCATION}-{self.access.replace('/', '-')}"

    def name(self, base: str) -> str:
        """The name of a sensor or schedule of this location: `<base>`, `<base>__public`, `<base>__private__<project>`.
        No segment of a key holds two underscores, so two locations never give one name."""
        return base if self.access is None else f"{base}__{self.access.replace('/', '__')}"

    def holds(self, key: str) -> bool:
        """Whether what is written under this key, line or class root is executed here."""
        return self.access is None or key == self.access or key.startswith(f"{self.access}/")

    def known(self, keys: Iterable[str]) -> None:
        """FactoryError (code "load") when no stage and no line is of this scope's class."""
        if self.access is None:
            return
        classes = {access.PUBLIC, *(Key(key).access for key in keys)}
        if self.access not in classes:
            raise FactoryError(
                f"{VARIABLE}={self.access}: no dataset and no line is {self.access}",
                found=self.access,
                expected=" or ".join(sorted(classes)),
                fix=f"correct the project's name, or declare its first dataset under assets/{self.access}/",
                code="load",
            )

    def require(self, of: str, what: str) -> None:
        """FactoryError (code "other_location") when `what` is another location's to execute. `of` is its class, or a
        key or a canonical path of that class."""
        of = access.of_key(of.removeprefix(f"{PREFIX}/"))
        if self.holds(of):
            return
        other = Scope(access.validate(of))
        raise FactoryError(
            f"the code location {self.location} does not execute {what}",
            found=of,
            expected=self.access,
            fix=f"launch it from the code location {other.location} ({VARIABLE}={other.access})",
            code="other_location",
        )
