"""What this process may open: the inputs that its run declared, what it makes, and nothing else.

A dataset's function may open the namespace by itself, so the limit belongs to the process and not to one object. It is
set once, by whoever starts a run's work, and holds for every thread until that work ends. It catches what nobody
declared; what is meant to break out is stopped by mounts and by the rights of the process's user.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from aifactory.errors import FactoryError

SHORT = 16
_in_force: list[Limit] = []


@dataclass(frozen=True)
class Limit:
    """`reader` names the run's work for people; `inputs` are versions (64 digits) by key; `output` is the key that is
    written, if one is; `places` are further directories, by their names in the tree (`public/runs/<run>`)."""

    reader: str
    inputs: Mapping[str, frozenset[str]] = field(default_factory=dict)
    output: str | None = None
    places: tuple[str, ...] = ()

    def check_key(self, key: str) -> None:
        """FactoryError "undeclared" for a key that is neither an input nor the output."""
        if key not in self.inputs and key != self.output:
            raise self._undeclared(key)

    def check_version(self, key: str, version: str) -> None:
        """FactoryError "undeclared" for a version of an input that is not the declared one; the output's are free."""
        if key == self.output:
            return
        self.check_key(key)
        if version not in self.inputs[key]:
            raise self._undeclared(f"{key}@{version[:SHORT]}")

    def version(self, key: str, version: str | None) -> str:
        """The declared version (64 digits) that an input's key, or 8 or more digits of its version, stand for.

        FactoryError "undeclared" for everything else: what a build made before is no input of it either.
        """
        if version is not None and len(version) < 8:
            version = ""  # too short to name one
        found = [one for one in self.inputs.get(key, ()) if version is None or (version and one.startswith(version))]
        if len(found) != 1:
            raise self._undeclared(f"{key}@{version[:SHORT]}" if version else key)
        return found[0]

    def check_path(self, name: str) -> None:
        """The same for a path, by its name in the tree without `/factory/` (`public/medquad/clean/@<16 digits>/x`)."""
        roots = [f"{key}/@{one[:SHORT]}" for key, versions in self.inputs.items() for one in versions]
        if not any(name == root or name.startswith(f"{root}/") for root in (*roots, *self.places)):
            raise self._undeclared(f"/factory/{name}")

    def _undeclared(self, name: str) -> FactoryError:
        declared = [f"{key}@{one[:SHORT]}" for key, versions in sorted(self.inputs.items()) for one in sorted(versions)]
        key = name.removeprefix("/factory/").partition("@")[0].rstrip("/")
        close = difflib.get_close_matches(key, self.inputs, n=1)
        return FactoryError(
            f"{self.reader} opens {name}, which it did not declare",
            found=name,
            expected=", ".join(declared) or "nothing: it declares no inputs",
            fix="declare it (a dataset's `inputs`, a recipe's mix or suites) and plan it again"
            + (f"; or open the declared version of {close[0]}" if close else ""),
            code="undeclared",
        )


@contextmanager
def limited(limit: Limit) -> Iterator[None]:
    """Inside, every reader of this process opens what `limit` declares and nothing else. Raises RuntimeError where a
    limit is in force already: none can be widened from inside."""
    if _in_force:
        raise RuntimeError(f"this process is limited already, to what {_in_force[0].reader} declares")
    _in_force.append(limit)
    try:
        yield
    finally:
        _in_force.remove(limit)


def current() -> Limit | None:
    """The limit in force in this process; None in a notebook, a terminal or Dagster."""
    return _in_force[0] if _in_force else None


def whole(of: str) -> None:
    """For what goes through a whole class, or (`of` is empty) through all of them: FactoryError "undeclared" inside a
    run."""
    if limit := current():
        limit.check_path(of)
