"""Reading a version once at a site, so that a run finds it where reading is fast; damage is found on the way."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from aifactory.errors import FactoryError
from aifactory.launch.checkpoints.checkpoint import checkpoint_record
from aifactory.launch.clusters.kube import HERE
from aifactory.launch.sites.presence import Presence, at, checkpoint_at, seen
from aifactory.launch.sites.registry import Site
from aifactory.namespace import Snapshot
from aifactory.namespace.names import PREFIX, open_real, real

CHUNK = 8 << 20


@dataclass(frozen=True)
class ToRead:
    """Files of one version or checkpoint at a site: `files` are (path, bytes, sha256) in the directory at `place`, a
    path in the site's tree. `name` is for people."""

    name: str
    tree: Path
    place: str
    files: tuple[tuple[str, int, str], ...]

    @property
    def bytes(self) -> int:
        return sum(size for _, size, _ in self.files)


def of_snapshot(site: Site, snapshot: Snapshot, part: str | None = None) -> ToRead:
    """The files of a part, or all. Raises FactoryError: "data_absent", "data_stale" or "site_unseen" where it is not
    whole there, "part" where it has none of that part."""
    files = tuple((one.path, one.bytes, one.sha256) for one in snapshot.files(part))
    tree = _tree(site, snapshot.name, at(site, snapshot))
    if site.name == HERE:
        tree = snapshot.path.parents[len(snapshot.key.segments)]  # the one of several roots that has it
    return ToRead(snapshot.name, tree, snapshot.canonical.removeprefix(f"{PREFIX}/"), files)


def of_checkpoint(site: Site, place: str, version: str) -> ToRead:
    """The files of the checkpoint at the canonical path `place`. Raises as `of_snapshot` does."""
    path = place.removeprefix(f"{PREFIX}/")
    tree = _tree(site, path, checkpoint_at(site, place, version))
    record = checkpoint_record(real(tree, path.split("/")))
    files = tuple((str(one["path"]), int(one["bytes"]), str(one["sha256"])) for one in record["files"])
    return ToRead(path, tree, path, files)


def read(what: ToRead, told: Callable[[int], None] = lambda count: None) -> int:
    """Read every file once, one after the other; bytes in all. `told` gets the bytes of each chunk, and may raise to
    stop. Raises FactoryError "data_stale" for a file whose bytes are others than its manifest says, or that went away:
    no name of it where it is private."""
    total = 0
    for path, size, expected in what.files:
        sha256, count = hashlib.sha256(), 0
        try:
            for chunk in _chunks(what, path):
                sha256.update(chunk)
                count += len(chunk)
                told(len(chunk))
        except OSError as error:
            raise _damaged(what, path, error.strerror or "an error", f"{size:,} bytes") from error
        if sha256.hexdigest() != expected:
            raise _damaged(what, path, f"{count:,} bytes, sha256 {sha256.hexdigest()[:16]}", f"sha256 {expected[:16]}")
        total += count
    return total


class Progress:
    """Says how far a reading is, at most once in `every` seconds: a `told` for `read`. `stop` is asked at each chunk
    and raises to end it."""

    def __init__(
        self,
        whats: Sequence[ToRead],
        say: Callable[[str], None],
        *,
        every: float = 10.0,
        stop: Callable[[], None] = lambda: None,
    ):
        self._total, self._say, self._every, self._stop = sum(one.bytes for one in whats), say, every, stop
        self._done, self._begun = 0, time.monotonic()
        self._due = self._begun + every

    def __call__(self, count: int) -> None:
        self._stop()
        self._done += count
        if (now := time.monotonic()) >= self._due:
            self._due = now + self._every
            self._say(f"prefetch: {self.text}")

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._begun

    @property
    def text(self) -> str:
        rate = self._done / max(self.seconds, 1e-9) / 1e6
        return f"read {self._done / 1e6:,.1f} of {self._total / 1e6:,.1f} MB, {rate:,.0f} MB/s"


def _chunks(what: ToRead, path: str) -> Iterator[memoryview]:
    handle = open_real(what.tree, [*what.place.split("/"), *path.split("/")])
    buffer = memoryview(bytearray(CHUNK))
    with open(handle, "rb", buffering=0) as file:  # noqa: PTH123
        while count := file.readinto(buffer):
            yield buffer[:count]


def _tree(site: Site, name: str, presence: Presence) -> Path:
    tree = seen(site)
    if presence.whole and tree is not None:
        return tree
    state = "unseen" if presence.whole else presence.state
    raise FactoryError(
        f"{name} is not whole at the site {site.name}",
        found=presence.found,
        expected=presence.expected,
        fix=presence.fix,
        code="site_unseen" if state == "unseen" else f"data_{state}",
    )


def _damaged(what: ToRead, path: str, found: str, expected: str) -> FactoryError:
    file = path if what.place.startswith("public/") else "a file"
    return FactoryError(
        f"{file} of {what.name} is not what its manifest says",
        found=found,
        expected=expected,
        fix="copy it to the site again, then mark it with --verify",
        code="data_stale",
    )
