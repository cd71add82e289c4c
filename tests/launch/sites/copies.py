"""Two roots, and a copier between them that does as a test says."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path

from aifactory.launch.sites.registry import Site
from aifactory.namespace import Namespace, Snapshot
from tests.launch.published import publish

KEY = "public/probe/rows"
FILES = {"train/a.bin": "aaaa", "train/b.bin": "bb", "val/a.bin": "c", "test/a.bin": ""}


def rows(ns: Namespace, key: str = KEY) -> Snapshot:
    """A published snapshot of four files."""
    return publish(ns, key, "tokens", FILES)


def site(tree: Path, name: str = "lab", **fields: object) -> Site:
    return Site.model_validate({"name": name, "view": tree, **fields})


def names(snapshot: Snapshot) -> list[str]:
    """What a copier has to copy: paths in the snapshot."""
    return [*(file.path for file in snapshot.manifest.files), "manifest.json"]


def place(snapshot: Snapshot, tree: Path) -> Path:
    """Where the snapshot belongs in another tree."""
    return tree.joinpath(*snapshot.key.segments, snapshot.path.name)


def copy(snapshot: Snapshot, tree: Path, which: Iterable[str] | None = None) -> None:
    """Copy these files of it, in this order; all of them else."""
    for name in names(snapshot) if which is None else which:
        target = place(snapshot, tree) / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.unlink(missing_ok=True)
        shutil.copyfile(snapshot.path / name, target)


def begin(snapshot: Snapshot, tree: Path, name: str, size: int) -> None:
    """What stands there while a file is being copied: its first bytes."""
    target = place(snapshot, tree) / name
    target.parent.mkdir(parents=True, exist_ok=True)
    target.unlink(missing_ok=True)
    target.write_bytes((snapshot.path / name).read_bytes()[:size])


def whole(snapshot: Snapshot, tree: Path) -> bool:
    """What the test itself sees: every file has its size there."""
    pairs = [(place(snapshot, tree) / name, snapshot.path / name) for name in names(snapshot)]
    return all(there.is_file() and there.stat().st_size == here.stat().st_size for there, here in pairs)
