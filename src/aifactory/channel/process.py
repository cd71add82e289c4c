"""Which process is an attempt: pid, start time, boot and place, so that no other is ever taken for it."""

from __future__ import annotations

import json
import os
import socket
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict

from aifactory.errors import FactoryError
from aifactory.store import Store, canonical

NAME = "process.json"


Seen = Literal["alive", "gone", "elsewhere"]


class Process(BaseModel):
    """`start` is in clock ticks since boot (field 22 of /proc/<pid>/stat); `boot` is the kernel's boot id.

    `host` is the machine's name, or the pod's; `pids` names the process ids' namespace, since a pod on this very
    machine counts its own. Both are None in a file of an older image, which ran on this machine.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    pid: int
    start: int
    boot: str
    session: int
    host: str | None = None
    pids: str | None = None

    @classmethod
    def current(cls) -> Process:
        stat = read_stat(os.getpid())
        if stat is None:
            raise FactoryError("this process cannot be found under /proc", fix="mount /proc", code="proc")
        return cls(
            pid=os.getpid(),
            start=stat[2],
            boot=boot_id(),
            session=os.getsid(0),
            host=socket.gethostname(),
            pids=_pid_namespace(),
        )

    @classmethod
    def load(cls, attempt_directory: Path) -> Process | None:
        """The process of the attempt, or None before there is one."""
        data = Store(attempt_directory).read(NAME)
        return None if data is None else cls.model_validate(json.loads(data))

    def claim(self, attempt_directory: Path) -> bool:
        """Write process.json if no other process has; False for who loses."""
        return Store(attempt_directory).put(NAME, canonical(self.model_dump()))

    @property
    def here(self) -> bool:
        """Whether its process ids are those that this process sees: only then can it be looked for."""
        return self.boot == boot_id() and self.pids in (None, _pid_namespace())

    def seen(self) -> Seen:
        """ "alive" while this very process runs (a zombie is gone), "gone" when it has ended or its machine was started
        anew since, "elsewhere" when it runs or ran where it can't be looked for: in a pod, on another machine."""
        if self.here:
            stat = read_stat(self.pid)
            return "alive" if stat is not None and stat[2] == self.start and stat[0] not in "ZXx" else "gone"
        rebooted = self.boot != boot_id() and self.host in (None, socket.gethostname())
        return "gone" if rebooted else "elsewhere"

    def alive(self) -> bool:
        """True while it is seen to run. One that is elsewhere isn't: ask `seen` where that may be."""
        return self.seen() == "alive"


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


def _pid_namespace() -> str:
    return str(Path("/proc/self/ns/pid").readlink())
