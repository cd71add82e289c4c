"""Following a driver's log while it is written."""

from __future__ import annotations

from pathlib import Path

CHUNK = 64 * 1024
BEHIND = 1024 * 1024
LINE = 8 * 1024


class Tail:
    """Whole lines of a growing file, as they come. A view: a writer that floods is skipped over, never waited for."""

    def __init__(self, path: Path):
        self.path = path
        self.size = 0
        self._position = 0
        self._rest = b""

    def new(self, *, last: bool = False) -> str:
        """At most about 64 KiB of new text, "" if there is none. `last`: also a line without an end, and the tail of
        what is left."""
        try:
            self.size = self.path.stat().st_size
        except FileNotFoundError:
            return ""
        skipped = ""
        behind = self.size - self._position
        if behind > BEHIND or (last and behind > CHUNK):
            kept = CHUNK // 2
            skipped = f"[{behind - kept} bytes are not shown; the whole log is {self.path}]\n"
            self._position, self._rest = self.size - kept, b""
        with self.path.open("rb") as file:
            file.seek(self._position)
            data = file.read(CHUNK)
        self._position += len(data)
        if skipped:
            data = data.partition(b"\n")[2]
        data = self._rest + data
        lines, end, self._rest = data.rpartition(b"\n")
        if last or len(self._rest) > LINE:
            lines, end, self._rest = data, b"", b""
        return skipped + (lines + end).decode("utf-8", "replace")


def last_lines(path: Path, count: int = 10) -> list[str]:
    """The last lines of a log, for an error."""
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            file.seek(max(0, size - CHUNK))
            return file.read().decode("utf-8", "replace").splitlines()[-count:]
    except FileNotFoundError:
        return []
