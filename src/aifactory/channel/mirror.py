"""The control plane's copy of an attempt whose mount it doesn't share, kept by commands that run in the head pod.

The copy has the same files at the same places, so whoever reads an attempt reads it as ever.
"""

from __future__ import annotations

import base64
import json
import os
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from aifactory.channel.delivery import (
    FILE,
    GROWING,
    JOURNALS,
    RAW,
    ChunkLine,
    End,
    FileLine,
    MissingLine,
    RecordLine,
    parse,
)
from aifactory.channel.safe import may_show
from aifactory.errors import FactoryError
from aifactory.store import Journal, Store

Exec = Callable[[list[str]], bytes]
"""Runs a command in the head pod and returns its standard output. Raises OSError when it can't be reached."""
LATE_SECONDS = 90.0
"""How long a record may be missing while later ones are there."""
STATE = "mirror.json"
COMMANDS = 16
"""Handed over at once, at most."""


class Mirror:
    """Copies what the driver wrote from the site to `attempt_directory`, and the launcher's commands back.

    `there` is the run's directory at the site. Only whole records that follow the last one here are kept: what is
    repeated, torn or out of order in an answer changes nothing, and is asked for again. Of a private run no raw output
    is asked for, nor kept.
    """

    def __init__(
        self,
        attempt_directory: Path,
        there: str,
        exec: Exec,
        *,
        python: str = "python",
        late: float = LATE_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ):
        self.attempt_directory, self._there, self._exec, self._python = attempt_directory, there, exec, python
        self.private = not may_show(attempt_directory.parents[1])
        self._late, self._clock = late, clock
        self._journals = {name: Journal(attempt_directory / name) for name in JOURNALS}
        self._last = {name: last.n if (last := one.last()) else 0 for name, one in self._journals.items()}
        self._starts: dict[str, int] = self._kept_state()
        self._wrong: dict[str, float] = {}
        self._commands_there = 0
        self._complete = False

    @property
    def complete(self) -> bool:
        """Whether all of an attempt that has ended is here, and the site was told so."""
        return self._complete

    def pull(self) -> bool:
        """Ask once. True when there is more to be had at once.

        Raises OSError for a pod that can't be reached (to be tried again: that says nothing about the run), and
        FactoryError "gap", naming the records, when some stay missing or damaged for longer than `late` seconds.
        """
        lines = parse(self._exec(self._command()))
        bad: dict[str, str] = {}
        for record in sorted((one for one in lines if isinstance(one, RecordLine)), key=lambda one: one.n):
            if record.journal in self._journals:
                self._keep_record(record, bad)
        for line in lines:
            if isinstance(line, FileLine):
                self._keep_file(line)
            elif isinstance(line, MissingLine) and line.journal in self._journals:
                self._miss(line, bad)
        for chunk in sorted((one for one in lines if isinstance(one, ChunkLine)), key=lambda one: one.start):
            self._keep_chunk(chunk)
        end = next((one for one in lines if isinstance(one, End)), None)
        self._judge(bad, whole=end is not None)
        if end is None:
            return True
        self._commands_there = end.commands
        if not end.more and not bad and not self._complete and (count := self._closed()) is not None:
            self._exec([*self._base(), "--fetched", str(count)])
            self._complete = True
        return end.more

    def _base(self) -> list[str]:
        run = ["--run", self._there, "--attempt", str(int(self.attempt_directory.name))]
        return [self._python, "-m", "aifactory.channel.serve", *run]

    def _command(self) -> list[str]:
        command = self._base()
        for name, last in self._last.items():
            command += ["--after", f"{name}:{last}"]
        for name, start in self._starts.items():
            command += ["--from", f"{name}:{start}"]
        for name in self._held():
            command += ["--held", name]
        records = sorted((self.attempt_directory / "commands").glob("[0-9]*.json"))
        for record in [one for one in records if int(one.stem) > self._commands_there][:COMMANDS]:
            command += ["--command", f"{int(record.stem)}:{base64.b64encode(record.read_bytes()).decode()}"]
        return command

    def _held(self) -> Iterable[str]:
        run = self.attempt_directory.parents[1]
        for base, pattern in ((self.attempt_directory, "*.json"), (run, "checkpoints/step-*/checkpoint.json")):
            for path in sorted(base.glob(pattern)):
                if FILE.fullmatch(name := path.relative_to(base).as_posix()):
                    yield name

    def _keep_record(self, line: RecordLine, bad: dict[str, str]) -> None:
        if line.n != self._last[line.journal] + 1:
            return
        try:
            self._journals[line.journal].accept(line.n, line.data)
        except FactoryError as error:
            if error.code != "journal":
                raise
            bad[line.journal] = f"record {line.n} of {line.journal} is damaged"
        else:
            self._last[line.journal] = line.n
            bad.pop(line.journal, None)

    def _miss(self, line: MissingLine, bad: dict[str, str]) -> None:
        if numbers := [n for n in line.numbers if n > self._last[line.journal]]:
            said = f"record{'s' if len(numbers) > 1 else ''} {', '.join(map(str, numbers))}"
            bad[line.journal] = f"{said} of {line.journal} missing, and {line.last} is there"

    def _keep_file(self, line: FileLine) -> None:
        if not FILE.fullmatch(line.name):
            return
        inside = line.name.startswith("checkpoints/")
        path = (self.attempt_directory.parents[1] if inside else self.attempt_directory) / line.name
        try:
            json.loads(line.data)
        except ValueError:
            return
        Store(path.parent).put(path.name, line.data)

    def _keep_chunk(self, line: ChunkLine) -> None:
        if not GROWING.fullmatch(line.name) or (self.private and RAW.fullmatch(line.name)):
            return
        if line.start - line.skipped != self._starts.get(line.name, 0) or not line.data:
            return
        path = self.attempt_directory / line.name
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab") as file:
            if line.skipped:
                place = f"{self._there}/attempts/{self.attempt_directory.name}/{line.name}"
                file.write(f"\n[{line.skipped} bytes were not fetched; the whole log is {place}]\n".encode())
            file.write(line.data)
        self._starts[line.name] = line.start + len(line.data)
        self._keep_state()

    def _judge(self, bad: dict[str, str], *, whole: bool) -> None:
        """What is wrong for too long is raised. `whole`: the answer was, so what it does not tell of is right."""
        now = self._clock()
        for name in JOURNALS:
            if name in bad:
                since = self._wrong.setdefault(name, now)
                if now - since > self._late:
                    raise self._gap(name, bad[name], now - since)
            elif whole:
                self._wrong.pop(name, None)

    def _gap(self, journal: str, what: str, seconds: float) -> FactoryError:
        return FactoryError(
            f"{self.attempt_directory}: {what}",
            found=f"for {seconds:.0f} s",
            expected=f"every record of {self._there}/attempts/{self.attempt_directory.name}/{journal}",
            fix="launch the run again: a damaged attempt is followed by a new one",
            code="gap",
        )

    def _closed(self) -> int | None:
        last = self._journals["messages"].last()
        return last.n if last is not None and last.body.get("method") == "closed" else None

    def _kept_state(self) -> dict[str, int]:
        try:
            return {str(name): int(start) for name, start in json.loads(self._state.read_bytes()).items()}
        except (FileNotFoundError, ValueError):
            return {}

    def _keep_state(self) -> None:
        beside = self._state.with_name(f".{STATE}-{os.getpid()}")
        beside.write_text(json.dumps(self._starts))
        beside.replace(self._state)

    @property
    def _state(self) -> Path:
        return self.attempt_directory / STATE
