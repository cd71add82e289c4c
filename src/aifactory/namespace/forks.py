"""Forks as people see them: what a key's first root left, and what it hides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from aifactory.namespace.history import History
from aifactory.namespace.publication import Left, Publication
from aifactory.namespace.publications import Publications
from aifactory.namespace.snapshot import folder

if TYPE_CHECKING:
    from aifactory.namespace.namespace import Namespace


@dataclass(frozen=True)
class Fork:
    """The publications of `key` in `root`, the first one. `left`: where they began; None for those that were there
    before the mount was. `found`: whether a root below still has that. `hidden` is current in `below`, the next root
    that has the key; None without one."""

    key: str
    root: Path
    began: Publication
    left: Left | None
    found: bool
    hidden: Publication | None
    below: Path | None

    @property
    def moved(self) -> bool:
        """Whether the root below says by now something else than what was left."""
        return self.hidden is not None and (self.left is None or self.hidden.sha256 != self.left.sha256)

    @property
    def lines(self) -> list[str]:
        """For people."""
        if self.left is None:
            said = [f"publications of its own in {self.root} hide those of {self.below}"]
        else:
            where = f"publication {self.left.n} ({folder(self.left.version)}) of {self.left.root}"
            said = [f"a fork in {self.root}: its publication {self.began.n} left {where}"]
            if not self.found:
                said.append("what it left is in no root of AIFACTORY_ROOT")
        if self.hidden is not None and self.moved:
            by_now = f"publication {self.hidden.n} ({folder(self.hidden.version)})"
            said.append(f"{self.below} is at {by_now}, which this hides")
        return said


def fork_of(ns: Namespace, key: str) -> Fork | None:
    """The fork of a key in the first root; None where that root has nothing of it, or hides nothing and left nothing.

    FactoryError "journal" as reading raises it.
    """
    return _fork(ns, key, Publications(ns, key).histories())


def _fork(ns: Namespace, key: str, known: Sequence[History]) -> Fork | None:
    if not known or known[0].root != ns.root or (len(known) == 1 and known[0].left is None):
        return None
    own, below = known[0], known[1] if len(known) > 1 else None
    return Fork(
        key,
        own.root,
        own.own[0],
        own.left,
        own.found,
        below.last if below else None,
        below.root if below else None,
    )
