"""The marker of a version at a site: written last, once every byte of it is there."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from aifactory.namespace import Key
from aifactory.namespace.names import real
from aifactory.namespace.snapshot import SHORT
from aifactory.store import Store, canonical

FOLDER = "@present"
LONGEST = 64 * 1024
Checked = Literal["sizes", "sha256"]


class Marker(BaseModel):
    """`version` is the digest of the manifest (64 hex digits); `files` and `bytes` are the manifest's; `checked` says
    how the files were compared with it before this was written; `at` is UTC, ISO 8601."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    format: Literal[1] = 1
    site: str
    key: str
    version: str = Field(pattern=r"^[0-9a-f]{64}$")
    files: int
    bytes: int
    checked: Checked
    at: str
    writer: str


def read_marker(tree: Path, key: Key, version: str) -> Marker | str | None:
    """The marker of `key@version` in a site's tree; None without one; in words what is wrong with one that is torn."""
    file = _folder(tree, key) / _name(version)
    try:
        with file.open("rb") as opened:
            data = opened.read(LONGEST)
    except (FileNotFoundError, NotADirectoryError):
        return None
    try:
        return Marker.model_validate_json(data)
    except ValidationError:
        return f"a torn marker ({len(data)} bytes)"


def write_marker(tree: Path, marker: Marker) -> Path:
    """Write it, in place of an older one. Raises FactoryError "read_only" or "disk_full"."""
    store, name = Store(_folder(tree, Key(marker.key))), _name(marker.version)
    data = canonical(marker.model_dump(mode="json")) + b"\n"
    while not store.put(name, data):
        remove_marker(tree, Key(marker.key), marker.version)
    return store.root / name


def remove_marker(tree: Path, key: Key, version: str) -> None:
    """The version is no longer said to be there; nothing happens where it wasn't."""
    (_folder(tree, key) / _name(version)).unlink(missing_ok=True)


def _folder(tree: Path, key: Key) -> Path:
    return real(tree, (*key.segments, FOLDER))


def _name(version: str) -> str:
    return f"{version[:SHORT]}.json"
