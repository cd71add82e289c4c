"""Saying that a version is at a site: looked at first, then written down beside it."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from aifactory.errors import FactoryError
from aifactory.launch.sites.marker import Checked, Marker, remove_marker, write_marker
from aifactory.launch.sites.presence import count, files_of
from aifactory.namespace import Key, Snapshot
from aifactory.namespace.names import real
from aifactory.namespace.snapshot import SHORT, folder


def mark(site: str, tree: Path, key: Key, version: str, *, verify: bool, writer: str) -> Marker:
    """Compare the files of `key@version` (16 digits or more) in the site's tree with its manifest there, by size or
    with `verify` by sha256, and write its marker.

    Raises FactoryError: "data_absent" where the version or one of its files isn't there, "integrity" and "escape" for
    what is there and differs, "version" for a shorter version, "read_only" where the tree can't be written. An older
    marker of what is not whole is removed.
    """
    if len(version) < SHORT:
        raise FactoryError(
            f"{key}@{version} may be several versions",
            found=version,
            expected=f"at least {SHORT} digits",
            fix=f"name one of `aifactory versions {key}`",
            code="version",
        )
    try:
        snapshot = Snapshot.load(key, real(tree, (*key.segments, folder(version))))
        own, right = count(tree, key, snapshot.manifest)
        files = snapshot.manifest.files
        if not own or right < len(files):
            raise FactoryError(
                f"{snapshot.name} is not whole at the site {site}",
                found=f"{right} of {files_of(len(files))} with their size",
                expected=f"all of them under {snapshot.path}",
                fix="wait until the copier is done, then mark it",
                code="data_absent",
            )
        if verify:
            snapshot.verify()
    except FactoryError as error:
        remove_marker(tree, key, version)
        if error.code == "missing":
            raise FactoryError(
                f"{key}@{version[:SHORT]} is not at the site {site}",
                found=f"no whole snapshot under {tree}",
                expected=f"{key}/{folder(version)} with its manifest",
                fix="copy that directory first",
                code="data_absent",
            ) from error
        raise
    checked: Checked = "sha256" if verify else "sizes"
    marker = Marker(
        site=site,
        key=str(key),
        version=snapshot.version,
        files=len(files),
        bytes=snapshot.manifest.bytes,
        checked=checked,
        at=datetime.now(UTC).isoformat(timespec="seconds"),
        writer=writer,
    )
    write_marker(tree, marker)
    return marker
