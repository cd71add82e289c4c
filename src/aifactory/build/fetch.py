"""Finding a raw file: in the mirror folder, beside the stage's module, or at its URL."""

from __future__ import annotations

import os
import tempfile
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256 as _sha256
from pathlib import Path

from aifactory.build.inputs import Work
from aifactory.channel import Progress
from aifactory.errors import FactoryError
from aifactory.store import hash_file

MIRROR = "AIFACTORY_MIRROR"
BLOCK = 1 << 20
TIMEOUT_SECONDS = 30
TRIES = 3


@contextmanager
def located(work: Work, name: str, url: str | None, sha256: str | None, *, pin: str = "") -> Iterator[Path]:
    """The file `name`; what was downloaded is removed afterwards.

    Raises FactoryError: code "digest" where a file of that name has another sha256, "unreachable" where no place has
    it (`pin` says what identifies it, where that is not its sha256).
    """
    mirror = os.environ.get(MIRROR)
    places = [Path(mirror) / name] if mirror else []
    places.append(Path(work.stage.file).parent / name)
    for place in places:
        if place.is_file():
            if sha256 is not None:
                _same(work, str(place), hash_file(place)[1], sha256)
            yield place
            return
    tried = [f"no {place}" for place in places]
    if url is None:
        raise _unreachable(work, name, [*tried, "no URL"], pin or f"sha256 {sha256}")
    with tempfile.TemporaryDirectory(prefix="fetch-", dir=work.job.attempt_directory) as folder:
        target = Path(folder) / Path(name).name
        try:
            found = _download(work, url, target)
        except (OSError, ValueError) as error:
            raise _unreachable(work, name, [*tried, f"{url}: {error}"], pin or f"sha256 {sha256}") from None
        if sha256 is not None:
            _same(work, url, found, sha256)
        yield target


def _download(work: Work, url: str, target: Path) -> str:
    """Fetch with a few tries; returns the sha256. OSError says why it can't be had."""
    for left in reversed(range(TRIES)):
        try:
            return _once(work, url, target)
        except urllib.error.HTTPError as error:
            if error.code < 500 or not left:
                raise
        except OSError:
            if not left:
                raise
    raise AssertionError("unreachable")


def _once(work: Work, url: str, target: Path) -> str:
    digest, done = _sha256(), 0
    request = urllib.request.Request(url, headers={"User-Agent": "aifactory"})
    with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as answer, target.open("wb") as file:
        size = int(answer.headers.get("Content-Length") or 0)
        while block := answer.read(BLOCK):
            work.job.check_stop()
            digest.update(block)
            file.write(block)
            done += len(block)
            work.job.writer.send(Progress(text=f"fetching {target.name}", done=done, total=size or None, unit="bytes"))
    if size and done < size:
        raise OSError(f"the connection ended after {done} of {size} bytes")
    return digest.hexdigest()


def _same(work: Work, place: str, found: str, expected: str) -> None:
    if found != expected:
        raise FactoryError(
            f"{work.build.key}: {place} is not the file that is pinned",
            found=f"sha256 {found}",
            expected=f"sha256 {expected}",
            fix="provide the file that was pinned; if the new one is right, change sha256= and review what changed",
            code="digest",
        )


def _unreachable(work: Work, name: str, tried: list[str], pin: str) -> FactoryError:
    return FactoryError(
        f"{work.build.key}: the raw file {name} can't be had",
        found="; ".join(tried),
        expected=f"{name}, {pin}",
        fix=f"put {name} into a folder and name the folder in {MIRROR}, then materialize it again",
        code="unreachable",
    )
