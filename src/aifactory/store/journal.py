"""Journal: numbered, immutable records in a hash chain."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from aifactory.errors import FactoryError
from aifactory.store.canonical import canonical, digest, parse
from aifactory.store.store import Store

FIRST = "0" * 64
_NAME = re.compile(r"[0-9]{8}\.json")
_FIELDS = {"schema", "n", "previous", "at", "writer", "body", "sha256"}


@dataclass(frozen=True)
class Record:
    """One entry: `n` from 1, `previous` = the sha256 of record n-1 (64 zeros for the first), `at` in UTC (ISO 8601),
    `sha256` over everything else."""

    n: int
    previous: str
    at: str
    writer: str
    body: dict[str, Any]
    sha256: str


class JournalConflict(FactoryError):
    """Another writer took the number; `winner` is its record."""

    def __init__(self, directory: Path, winner: Record):
        self.directory, self.winner = directory, winner
        super().__init__(
            f"record {winner.n} of {directory} was taken by another writer",
            found=f"{winner.writer} at {winner.at}",
            expected="a free number",
            fix="read that record and decide again",
            code="conflict",
        )

    def __reduce__(self) -> tuple[object, ...]:
        return (JournalConflict, (self.directory, self.winner))


class Journal:
    """The records of one directory, `00000001.json` onwards.

    Reading verifies: a record that is torn, altered or missing raises FactoryError "journal" and names the file.
    A lost tail can't be seen from inside; owners compare with what they remember (`@current`, a frozen number).
    """

    def __init__(self, directory: Path):
        self.directory = directory
        self._store = Store(directory)
        self._known: Record | None = None

    def append(self, body: dict[str, Any], *, writer: str, expect: int | None = None) -> Record:
        """Writes the next record; it's on the disk when this returns.

        With `expect`, the record must get the number expect+1: when another writer has it, raises JournalConflict.
        Without, the next free number is taken. A body is read back as JSON spells it (tuples as lists, 1.0 as 1).
        """
        while True:
            last = self._at(expect) if expect is not None else self._known or self.last()
            record = _seal(last.n + 1 if last else 1, last.sha256 if last else FIRST, writer, body)
            if self._store.put(_name(record.n), _bytes(record)):
                # Read back from the bytes, so that the writer and every reader hold the same values.
                self._known = _parse(self.directory / _name(record.n), record.n, _bytes(record))
                return self._known
            if expect is not None:
                raise JournalConflict(self.directory, self._read(record.n))
            # By number again: on a network file system a listing may lag behind what the conflict just proved.
            self._known = self._follows(self._read(record.n), last)

    def accept(self, n: int, data: bytes) -> bool:
        """Keeps record `n` as another copy of this journal holds it, byte for byte; False when it is here already.

        FactoryError "journal" for bytes that are torn, altered or another record than the one here, and for a record
        that doesn't follow the last one.
        """
        path = self.directory / _name(n)
        record = _parse(path, n, data)
        last = self._known or self.last()
        before = last.n if last else 0
        if n > before + 1:
            raise _broken(path, "is out of order", f"{before} records", f"record {before + 1}")
        if n == before + 1 and self._store.put(path.name, _bytes(self._follows(record, last))):
            self._known = record
            return True
        if (ours := self._read(n)) != record:
            raise _broken(path, "is another record in the other copy", record.sha256, ours.sha256)
        return False

    def records(self, after: int = 0) -> list[Record]:
        """Records with numbers above `after`, verified, and chained to record `after`."""
        numbers = self._numbers()
        for n in range(1, min(after, max(numbers, default=0)) + 1):
            if n not in numbers:
                self._read(n)
        if max(numbers, default=0) < after:
            raise self._lost(after, max(numbers, default=0))
        previous = self._at(after)
        found = []
        for n in range(after + 1, max(numbers, default=0) + 1):
            record = self._read(n)
            found.append(self._follows(record, previous))
            previous = record
        return found

    def last(self) -> Record | None:
        """The newest record, verified and chained to the one before; None when there is none."""
        number = max(self._numbers(), default=0)
        found = self.records(after=max(number - 2, 0))
        return found[-1] if found else None

    def _at(self, n: int) -> Record | None:
        if n == 0:
            return None
        if self._known is not None and self._known.n == n:
            return self._known
        if n not in self._numbers():
            raise self._lost(n, max(self._numbers(), default=0))
        return self._read(n)

    def _numbers(self) -> set[int]:
        return {int(name[:8]) for name in self._store.names() if _NAME.fullmatch(name)}

    def _read(self, n: int) -> Record:
        # By number, not from the listing: a listing made while others write may lack a name and hold a later one.
        path = self.directory / _name(n)
        data = self._store.read(path.name)
        if data is None:
            raise _broken(path, "is missing, and a later record exists", "no file", "the record")
        return _parse(path, n, data)

    def _follows(self, record: Record, previous: Record | None) -> Record:
        expected = previous.sha256 if previous else FIRST
        if record.previous != expected:
            path = self.directory / _name(record.n)
            problem = "doesn't follow the record before it: one of the two was altered"
            raise _broken(path, problem, record.previous, expected)
        return record

    def _lost(self, wanted: int, last: int) -> FactoryError:
        return _broken(self.directory / _name(wanted), "is lost: it was read before", f"{last} records", wanted)


def _name(n: int) -> str:
    return f"{n:08d}.json"


def _content(n: int, previous: str, at: str, writer: str, body: dict[str, Any]) -> dict[str, Any]:
    return {"schema": 1, "n": n, "previous": previous, "at": at, "writer": writer, "body": body}


def _seal(n: int, previous: str, writer: str, body: dict[str, Any]) -> Record:
    at = datetime.now(UTC).isoformat(timespec="microseconds")
    return Record(n, previous, at, writer, body, digest(_content(n, previous, at, writer, body)))


def _bytes(record: Record) -> bytes:
    content = _content(record.n, record.previous, record.at, record.writer, record.body)
    return canonical(content | {"sha256": record.sha256}) + b"\n"


def _parse(path: Path, n: int, data: bytes) -> Record:
    try:
        raw = parse(data)
    except ValueError as error:
        raise _broken(path, "is torn or is not JSON", f"{len(data)} bytes: {error}", "a whole record") from error
    if not isinstance(raw, dict) or set(raw) != _FIELDS or raw["schema"] != 1 or not isinstance(raw["body"], dict):
        found = sorted(raw) if isinstance(raw, dict) else type(raw).__name__
        raise _broken(path, "is not a record of schema 1", found, sorted(_FIELDS))
    if raw["n"] != n:
        raise _broken(path, "has the number of another record", raw["n"], n)
    record = Record(n, raw["previous"], raw["at"], raw["writer"], raw["body"], raw["sha256"])
    try:
        own = digest({name: value for name, value in raw.items() if name != "sha256"})
    except FactoryError as error:
        raise _broken(path, "was altered", error.found, record.sha256) from error
    if own != record.sha256:
        raise _broken(path, "was altered", f"content with sha256 {own}", record.sha256)
    if _bytes(record) != data:
        raise _broken(path, "was altered (spelling)", f"{len(data)} bytes", "the canonical bytes of its content")
    return record


def _broken(path: Path, problem: str, found: object, expected: object) -> FactoryError:
    return FactoryError(
        f"journal record {path} {problem}",
        found=found,
        expected=expected,
        fix=f"restore {path.name} from a backup or another copy; until then nothing is read or appended here",
        code="journal",
    )
