"""`source`: where raw files come from, pinned so that they can't change unseen."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from hashlib import sha256 as _sha256
from pathlib import Path
from typing import Any, Unpack

from aifactory.datasets.common import Common, make
from aifactory.datasets.locks import locked
from aifactory.datasets.origin import origin
from aifactory.datasets.stage import Stage
from aifactory.errors import FactoryError

_HEX = re.compile(r"[0-9a-f]{64}")


def source(
    *,
    package: str | None = None,
    file: str | None = None,
    files: Sequence[str] = (),
    archive: str | None = None,
    url: str | None = None,
    sha256: str | None = None,
    digest: str | None = None,
    strip_top: bool = True,
    **common: Unpack[Common],
) -> Stage:
    """Raw files, kept as they are.

    - `package=` with `file=` or `files=`: files of an installed Python package, by their paths in it. The version is
      the one that `locks/data.lock` pins.
    - `file=` and/or `url=`, with `sha256=`: one file, from the mirror folder (AIFACTORY_MIRROR) or the URL. A file that
      stands beside the module needs neither.
    - `archive=` (a file name, or a URL) with `digest=`: an archive, pinned by the digest over its sorted
      `sha256  path` lines with the top folder stripped, and kept as one canonical archive. `url=` where the name of
      the file isn't the end of the URL; `strip_top=False` where there is no top folder.
    """
    where = origin()
    what = f"source in {where.file}:{where.line}"
    names = [*([file] if file is not None else []), *files]
    if package is not None and names and not (archive or url or sha256 or digest):
        parameters: dict[str, Any] = {"package": package, "files": names, "version": locked(package)}
    elif archive is not None and digest and not (package or names or sha256):
        url = archive if "://" in archive else url
        parameters = {"archive": _last(archive), "url": url, "digest": _pin(what, "digest", digest)}
        parameters["strip_top"] = strip_top
    elif (file or url) and not (package or files or archive or digest):
        name = file or _last(url or "")
        if sha256 is not None:
            pin = _pin(what, "sha256", sha256)
        elif (beside := Path(where.file).parent / name).is_file():
            pin = _hash(beside, beside.stat().st_mtime_ns)
        else:
            raise FactoryError(
                f"{what}: {name} is not pinned",
                expected="sha256=, or a file that stands beside the module",
                fix=f"add sha256='...' (sha256sum {name})",
                code="source",
            )
        parameters = {"file": name, "url": url, "sha256": pin}
    else:
        raise FactoryError(
            f"{what}: it is not clear where the files come from",
            expected="package= and file(s)=, or file=/url= and sha256=, or archive= and digest=",
            code="source",
        )
    for name in (*names, parameters.get("file") or "", parameters.get("archive") or ""):
        if name.startswith("/") or ".." in name.split("/") or "\0" in name:
            raise FactoryError(f"{what}: {name!r} is not a path inside of a folder", code="source")
    return make("source", {}, parameters, common)


def _pin(what: str, name: str, value: str) -> str:
    if not _HEX.fullmatch(value):
        raise FactoryError(f"{what}: {name} is not one", found=value, expected="64 hex digits", code="source")
    return value


def _last(text: str) -> str:
    return text.split("?")[0].rstrip("/").rpartition("/")[2]


@lru_cache(maxsize=256)
def _hash(path: Path, changed: int) -> str:
    return _sha256(path.read_bytes()).hexdigest()
