"""Which process is an attempt: pid, start time and boot, so that a recycled pid is never taken for it."""

from __future__ import annotations

import json
import os
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from aifactory.errors import FactoryError
from aifactory.store import Store, canonical

NAME = "process.json"


class Process(BaseModel):
    """`start` is in clock ticks since boot (field 22 of /proc/<pid>/stat); `boot` is the kernel's boot id."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    pid: int
    start: int
    boot: str
    session: int

    @classmethod
    def current(cls) -> Process:
        stat = read_stat(os.getpid())
        if stat is None:
            raise FactoryError("this process cannot be found under /proc", fix="mount /proc", code="proc")
        return cls(pid=os.getpid(), start=stat[2], boot=boot_id(), session=os.getsid(0))

    @classmethod
    def load(cls, attempt_directory: Path) -> Process | None:
        """The process of the attempt, or None before there is one."""
        data = Store(attempt_directory).read(NAME)
        return None if data is None else cls.model_validate(json.loads(data))

    def claim(self, attempt_directory: Path) -> bool:
        """Write process.json if no other process has; False for who loses."""
        return Store(attempt_directory).put(NAME, canonical(self.model_dump()))

    def alive(self) -> bool:
        """True while this very process runs; a zombie is dead."""
        if boot_id() != self.boot:
            return False
        stat = read_stat(self.pid)
        return stat is not None and stat[2] == self.start and stat[0] not in "ZXx"


def read_stat(pid: int) -> tuple[str, int, int] | None:
    """(state, session id, start time) of a process, or None if there is none."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return None
    # The name stands in parentheses and may hold anything, so fields are counted after the last one.
    fields = text.rpartition(")")[2].split()
    return fields[0], int(fields[3]), int(fields[19])


def boot_id() -> str:
    """The id of this boot of this kernel."""
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
