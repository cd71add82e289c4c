"""`python -m aifactory.channel.serve --run DIR --attempt N`: hands over what an attempt has written, as lines of JSON.

Run in the head pod by a control plane that doesn't share its mount (`aifactory.channel.mirror`). It takes the control
plane's commands first. Of a private run no raw output is handed over, whoever asks.
"""

from __future__ import annotations

import argparse
import base64
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from aifactory.channel.delivery import (
    FILE,
    GROWING,
    JOURNALS,
    RAW,
    AnyLine,
    ChunkLine,
    End,
    FileLine,
    MissingLine,
    RecordLine,
)
from aifactory.channel.safe import may_show
from aifactory.errors import FactoryError
from aifactory.store import Journal, Store, canonical

LIMIT = 512 * 1024
"""Bytes of content in one answer; a record that alone is larger is handed over alone."""
CHUNK = 64 * 1024
BEHIND = 1024 * 1024
"""A log that is so far ahead of its reader is skipped over: the whole of it stays at the site."""
FETCHED = "fetched.json"
"""Written when the control plane says that it has everything: the driver's end waits for it."""


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m aifactory.channel.serve", description=__doc__)
    parser.add_argument("--run", type=Path, required=True, help="the run's directory")
    parser.add_argument("--attempt", type=int, required=True)
    parser.add_argument(
        "--after", action="append", default=[], metavar="JOURNAL:N", help="the last record that is held"
    )
    parser.add_argument("--from", action="append", default=[], dest="starts", metavar="FILE:BYTES", help="bytes held")
    parser.add_argument("--held", action="append", default=[], metavar="FILE", help="a file that is held")
    parser.add_argument("--command", action="append", default=[], metavar="N:BASE64", help="a command's record")
    parser.add_argument("--fetched", type=int, help="the number of messages, when all of an ended attempt is held")
    options = parser.parse_args(arguments)
    site = Site(options.run, options.attempt)
    for one in options.command:
        n, _, data = one.partition(":")
        try:
            site.take(int(n), base64.b64decode(data, validate=True))
        except FactoryError as error:
            # What the run has to say is handed over all the same.
            print(error, file=sys.stderr)
    if options.fetched is not None:
        Store(site.attempt_directory).put(FETCHED, canonical({"messages": options.fetched}))
    for line in site.lines(_numbers(options.after), _numbers(options.starts), frozenset(options.held)):
        sys.stdout.write(line.model_dump_json() + "\n")
    sys.stdout.flush()
    return 0


class Site:
    """An attempt where its run works."""

    def __init__(self, run: Path, attempt: int, *, limit: int = LIMIT):
        self.run, self.attempt_directory = run, run / "attempts" / f"{attempt:08d}"
        self.private, self._limit = not may_show(run), limit

    def take(self, n: int, record: bytes) -> None:
        """Keep a command of the control plane, unless it is here. FactoryError "journal" when it doesn't follow."""
        Journal(self.attempt_directory / "commands").accept(n, record)

    def lines(self, after: Mapping[str, int], starts: Mapping[str, int], held: frozenset[str]) -> Iterator[AnyLine]:
        """What is not held yet, as much as one answer may hold, and End."""
        room, more = self._limit, False
        for journal in JOURNALS:
            n = after.get(journal, 0) + 1
            while (data := self._read(self.attempt_directory / journal / f"{n:08d}.json")) is not None:
                if room - len(data) < 0 and room < self._limit:
                    more = True
                    break
                room -= len(data)
                yield RecordLine(journal=journal, n=n, data=base64.b64encode(data))
                n += 1
            else:
                if later := [one for one in self._numbers(journal) if one > n]:
                    missing = tuple(sorted({*range(n, max(later))} - {*later}))
                    yield MissingLine(journal=journal, numbers=missing, last=max(later))
        for name, path in self._files():
            data = None if name in held else self._read(path)
            if data is not None and room - len(data) >= 0:
                room -= len(data)
                yield FileLine(name=name, data=base64.b64encode(data))
            elif data is not None:
                more = True
        for name, path in self._growing():
            start = starts.get(name, 0)
            chunk = self._chunk(name, path, start, min(CHUNK, max(room, 0)))
            if chunk is not None:
                room -= len(chunk.data)
                start = chunk.start + len(chunk.data)
                yield chunk
            more = more or path.stat().st_size > start
        yield End(more=more, commands=max(self._numbers("commands"), default=0))

    def _files(self) -> Iterator[tuple[str, Path]]:
        for base in (self.attempt_directory, self.run):
            for pattern in ("*.json", "checkpoints/step-*/checkpoint.json"):
                for path in sorted(base.glob(pattern)):
                    name = path.relative_to(base).as_posix()
                    # Beside an attempt's files the run's directory holds the launcher's, which are not this half's.
                    if FILE.fullmatch(name) and (base is self.run) == name.startswith("checkpoints/"):
                        yield name, path

    def _growing(self) -> Iterator[tuple[str, Path]]:
        for path in sorted([*self.attempt_directory.glob("*.jsonl"), *self.attempt_directory.glob("logs/*.log")]):
            name = path.relative_to(self.attempt_directory).as_posix()
            if GROWING.fullmatch(name) and not (self.private and RAW.fullmatch(name)):
                yield name, path

    def _chunk(self, name: str, path: Path, start: int, limit: int) -> ChunkLine | None:
        size, skipped = path.stat().st_size, 0
        if RAW.fullmatch(name) and size - start > BEHIND:
            skipped = size - start - CHUNK // 2
        with path.open("rb") as file:
            file.seek(start + skipped)
            data = file.read(limit)
        if not data:
            return None
        return ChunkLine(name=name, start=start + skipped, skipped=skipped, data=base64.b64encode(data))

    def _numbers(self, journal: str) -> list[int]:
        return [
            int(path.stem) for path in (self.attempt_directory / journal).glob("[0-9]*.json") if path.stem.isdigit()
        ]

    @staticmethod
    def _read(path: Path) -> bytes | None:
        try:
            return path.read_bytes()
        except FileNotFoundError:
            return None


def _numbers(given: Sequence[str]) -> dict[str, int]:
    return {name: int(number) for name, _, number in (one.rpartition(":") for one in given)}


if __name__ == "__main__":
    sys.exit(main())
