"""Whether a version is at a site, whole. A marker says so, and the files' sizes, or their bytes, have to agree."""

from __future__ import annotations

import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from aifactory.errors import FactoryError
from aifactory.launch.checkpoints.checkpoint import checkpoint_record
from aifactory.launch.clusters.kube import HERE
from aifactory.launch.sites.marker import Marker, read_marker
from aifactory.launch.sites.registry import Site
from aifactory.namespace import Key, Snapshot
from aifactory.namespace.manifest import MANIFEST, Manifest, decode
from aifactory.namespace.names import PREFIX, real
from aifactory.namespace.snapshot import folder

State = Literal["present", "absent", "stale", "unseen"]
Check = Literal["marker", "sizes", "bytes"]


@dataclass(frozen=True)
class Presence:
    """Of one version, or one checkpoint, at a site: `found` says in words what is there, `expected` what should be,
    `fix` the command that brings it. Counts of files only: a name may have been made of a private value."""

    site: str
    state: State
    found: str
    expected: str = ""
    fix: str = ""

    @property
    def whole(self) -> bool:
        return self.state == "present"


def at(site: Site, snapshot: Snapshot, check: Check = "sizes") -> Presence:
    """As `snapshot_at`; the site `here` needs no marker, since its journals say what is there."""
    if site.name != HERE:
        return snapshot_at(site, snapshot, check)
    try:
        if check == "sizes":
            snapshot.look()
        elif check == "bytes":
            snapshot.verify()
    except FactoryError as error:
        return Presence(HERE, "stale", f"{error.code}: a file of {snapshot.name} differs", fix=error.fix or "")
    return Presence(HERE, "present", "published")


def snapshot_at(site: Site, snapshot: Snapshot, check: Check = "sizes") -> Presence:
    """Whether the version that `snapshot` is here is at the site as well."""
    name, path = snapshot.name, snapshot.canonical.removeprefix(f"{PREFIX}/")
    manifest = snapshot.manifest
    expected = f"{files_of(len(manifest.files))} of {manifest.bytes:,} bytes, and a marker"
    mark = f"aifactory mark-present {snapshot.key}@{snapshot.version[:16]} --site {site.name}"
    copy = site.copying(path) or f"copy {path} to the site {site.name}"

    def said(state: State, found: str, fix: str = "") -> Presence:
        return Presence(site.name, state, found, expected, fix)

    if (tree := seen(site)) is None:
        return unseen(site)
    try:
        marker = read_marker(tree, snapshot.key, snapshot.version)
        wrong = _wrong(marker, site, snapshot)
        if marker is not None and wrong is None and check == "marker":
            return said("present", _marked(marker))
        own, right = count(tree, snapshot.key, manifest)
        whole = own and right == len(manifest.files)
        if whole and wrong is None and marker is not None:
            if check == "bytes":
                Snapshot(snapshot.key, snapshot.version, _place(tree, snapshot), manifest).verify()
            return said("present", _marked(marker))
    except OSError as error:
        return said("unseen", f"{tree}: {error.strerror}", f"give this user the right to read {path} there")
    except FactoryError as error:
        return said("stale", f"{error.code}: a file of {name} differs", f"{copy}, then {mark} --verify")
    files = f"{right} of {files_of(len(manifest.files))}{'' if own else ', no manifest'}"
    if marker is None:
        found = f"{files}, no marker" if own or right else "nothing"
        return said("absent", found, mark if whole else f"{copy}, then {mark}")
    if wrong is None:
        return said("stale", f"{files}, although it was marked", f"{copy}, then {mark}")
    return said("stale", wrong, mark if whole else f"{copy}, then {mark}")


def checkpoint_at(site: Site, place: str, version: str) -> Presence:
    """Whether the checkpoint at the canonical path `place` with this digest is at the site. Its record is its marker:
    who wrote it there wrote that last, and the sizes of all files decide for one that was copied."""
    path = place.removeprefix(f"{PREFIX}/")
    fix = site.copying(path) or f"copy {path} to the site {site.name}"
    if (tree := seen(site)) is None:
        return unseen(site)
    try:
        directory = real(tree, path.split("/"))
        if not directory.is_dir():
            return Presence(site.name, "absent", "nothing", version, fix)
        record = checkpoint_record(directory)
        if record["digest"] != version:
            return Presence(site.name, "stale", str(record["digest"]), version, fix)
        files = [(str(one["path"]), int(one["bytes"])) for one in record["files"]]
    except OSError as error:
        return Presence(
            site.name, "unseen", f"{tree}: {error.strerror}", version, "give this user the right to read it"
        )
    except (FactoryError, KeyError, TypeError, ValueError):
        return Presence(site.name, "absent", "no whole checkpoint.json", version, fix)
    there = sum(_is(directory, *one) for one in files)
    if there < len(files):
        return Presence(site.name, "absent", f"{there} of {files_of(len(files))}", version, fix)
    return Presence(site.name, "present", files_of(there), version)


def files_of(number: int) -> str:
    """As people say it."""
    return f"{number:,} file{'' if number == 1 else 's'}"


def seen(site: Site) -> Path | None:
    """The site's tree as this machine sees it, if it does."""
    try:
        return site.view if site.view is not None and site.view.is_dir() else None
    except OSError:
        return None  # a mount that is broken, or not for this user


def unseen(site: Site) -> Presence:
    """The answer where nobody here can look."""
    if site.view is None:
        fix = f'write view = "..." under [{site.name}] in sites.toml'
        return Presence(site.name, "unseen", "no view", "the directory of its tree", fix)
    return Presence(site.name, "unseen", f"no directory {site.view}", "the site's tree", f"mount it at {site.view}")


def _wrong(marker: Marker | str | None, site: Site, snapshot: Snapshot) -> str | None:
    """What is wrong with a marker that is there, if anything is."""
    if marker is None or isinstance(marker, str):
        return marker
    if marker.site != site.name:
        return f"a marker of the site {marker.site}"
    if (marker.key, marker.version) != (str(snapshot.key), snapshot.version):
        return f"a marker of {marker.key}@{marker.version}"
    return None


def _marked(marker: Marker | str) -> str:
    return f"marked {marker.at[:19].replace('T', ' ')} by {marker.checked}" if isinstance(marker, Marker) else marker


def count(tree: Path, key: Key, manifest: Manifest) -> tuple[bool, int]:
    """Whether the manifest itself is in the tree, and how many of its files are there with their size. Raises
    FactoryError "escape" where a symlink stands in the place of a directory, OSError where it may not be read."""
    place = real(tree, (*key.segments, folder(manifest.version)))
    try:
        own = decode((place / MANIFEST).read_bytes(), place / MANIFEST).version == manifest.version
    except (FactoryError, FileNotFoundError, NotADirectoryError):
        own = False
    return own, sum(_is(place, one.path, one.bytes) for one in manifest.files)


def _is(directory: Path, path: str, size: int) -> bool:
    """Whether a plain file of this size is there, and no symlink on the way to it."""
    place = directory
    for segment in path.split("/"):
        place /= segment
        if place.is_symlink():
            return False
    try:
        status = place.stat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    return stat.S_ISREG(status.st_mode) and status.st_size == size


def _place(tree: Path, snapshot: Snapshot) -> Path:
    return real(tree, (*snapshot.key.segments, folder(snapshot.version)))
