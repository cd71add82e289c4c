"""What a key went through: the journal of the first root that has one, with what its fork left in a root below."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from aifactory.errors import FactoryError
from aifactory.namespace import current, names
from aifactory.namespace.keys import Key
from aifactory.namespace.publication import Left, Publication
from aifactory.namespace.snapshot import folder
from aifactory.store import Journal, Record

DROP = "drop"
"""The action of a record that ends a fork: nothing before it counts any more."""


@dataclass(frozen=True)
class Book:
    """The journal of a key in one root: all `records`, and the `live` ones, which no record after them has dropped."""

    root: Path
    records: tuple[Record, ...]
    live: tuple[Record, ...]

    @property
    def drops(self) -> tuple[Record, ...]:
        """The records by which forks were dropped, oldest first."""
        return tuple(record for record in self.records if record.body.get("action") == DROP)


@dataclass(frozen=True)
class History:
    """Publications, oldest first, as `root` has them; for a fork those that it `left` come first, unless they are
    nowhere to be `found` (the root below is not in the list, or lost them)."""

    root: Path
    records: tuple[Publication, ...]
    left: Left | None = None
    found: bool = True

    @property
    def last(self) -> Publication:
        return self.records[-1]

    @property
    def own(self) -> tuple[Publication, ...]:
        """Those in the journal of `root` itself."""
        base = self.left.n if self.left else 0
        return tuple(record for record in self.records if record.n > base)


def book(root: Path, key: Key) -> Book:
    """The verified journal in one root; FactoryError "journal" when a record is torn, altered or missing, or the tail
    is lost: `@current` names a version that no record has."""
    directory = names.real(root, key.segments)
    shown = current.read(directory)  # before the journal: a publisher appends first and moves the link second
    records = tuple(Journal(directory / "@journal").records())
    if shown and all(folder(str(record.body.get("version", ""))) != shown for record in records):
        raise current.lost(directory, shown, len(records))
    ends = [place for place, record in enumerate(records, 1) if record.body.get("action") == DROP]
    return Book(root, records, records[ends[-1] if ends else 0 :])


def histories(books: Sequence[Book]) -> list[History]:
    """The history of every root that has one, given a key's books of all roots in their order; the first decides."""
    found: list[History] = []
    for one in reversed(books):
        if one.live:
            found.insert(0, _history(one, found))
    return found


def deciding(roots: Sequence[Path], key: Key) -> tuple[Book, History | None]:
    """The first root's book, and the history that decides what the key stands for; None if it was never published.

    Roots below are read as far as needed: below a journal that left nothing, none is.
    """
    books: list[Book] = []
    for root in roots:
        books.append(book(root, key))
        if books[-1].live and "left" not in books[-1].live[0].body:
            break
    found = histories(books)
    return books[0], found[0] if found else None


def _history(one: Book, below: Sequence[History]) -> History:
    left = Publication.of(one.live[0]).left
    base, first = left.n if left else 0, one.live[0].n
    own = tuple(Publication.of(record, base + record.n - first + 1) for record in one.live)
    if left is None:
        return History(one.root, own)
    for other in below:
        before = tuple(record for record in other.records if record.n <= left.n)
        if before and (before[-1].n, before[-1].sha256) == (left.n, left.sha256):
            return History(one.root, before + own, left)
    return History(one.root, own, left, found=False)


def no_fork(key: Key, roots: Sequence[Path], found: str, expected: str) -> FactoryError:
    """The error for what can't be dropped."""
    lower = f"over {', '.join(map(str, roots[1:]))}" if roots[1:] else "(AIFACTORY_ROOT names no read-only root)"
    return FactoryError(
        f"{key} is no fork in {roots[0]} {lower}",
        found=found,
        expected=expected,
        fix=f"`aifactory versions {key}` shows where it is read from",
        code="no_fork",
    )
