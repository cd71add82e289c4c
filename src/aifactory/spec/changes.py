"""What differs between two JSON documents, two manifests, two locks, two sets of files: plain values, no rendering."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from aifactory.namespace import FileEntry, Manifest
from aifactory.store import canonical

ABSENT = object()
"""What stands for a value that one side doesn't have; None is a value."""

PLAIN = re.compile(r"[\w@-]+")
IDENTITIES = ("key", "name")


def leaves(path: str, old: Any, new: Any) -> Iterator[tuple[str, Any, Any]]:
    """Dotted path, old and new value of everything that differs; one side may be ABSENT.

    Elements of a list that have a key or a name of their own are compared by it (`sources[public/a].weight`); any
    other list is one value. Two documents of one canonical form differ in nothing, all others in at least one path.
    """
    if old is ABSENT or new is ABSENT:
        if old is not new:
            yield path, old, new
        return
    if canonical(old) == canonical(new):
        return
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for name in sorted({*old, *new}):
            yield from leaves(_below(path, name), old.get(name, ABSENT), new.get(name, ABSENT))
        return
    pairs = _pairs(old, new)
    found = [leaf for name, one, other in pairs or () for leaf in leaves(f"{path}[{name}]", one, other)]
    yield from found or [(path, old, new)]


def files_between(old: Manifest, new: Manifest) -> dict[str, list[dict[str, Any]]]:
    """Files that were added, removed and changed, by path: sha256 (64 digits) and bytes of what there is."""
    before, after = ({file.path: file for file in manifest.files} for manifest in (old, new))
    return {
        "added": [_file(after[path]) for path in sorted(after.keys() - before.keys())],
        "removed": [_file(before[path]) for path in sorted(before.keys() - after.keys())],
        "changed": [
            {"path": path, "old": _file(before[path]), "new": _file(after[path])}
            for path in sorted(before.keys() & after.keys())
            if before[path] != after[path]
        ],
    }


def count(manifest: Manifest, part: str | None) -> tuple[int | None, int]:
    """Rows (None where nothing counts them) and bytes of a part; of the whole without one."""
    files = [file for file in manifest.files if part is None or file.part == part]
    rows = [file.rows for file in files if file.rows is not None]
    return (sum(rows) if rows else None), sum(file.bytes for file in files)


def packages(lock: str) -> dict[str, str]:
    """Versions by package, as a lock pins them; a package that is pinned by platform has every line of it."""
    found: dict[str, list[str]] = {}
    for line in lock.splitlines():
        name, equal, version = line.strip().partition("==")
        if equal and not name.startswith("#"):
            found.setdefault(name.strip().lower(), []).append(version.split(" --hash")[0].rstrip(" \\"))
    # A marker that merely says where one version applies is no news to a reader.
    return {
        name: pins[0].split(" ;")[0] if len(pins) == 1 else ", ".join(sorted(pins))
        for name, pins in sorted(found.items())
    }


def names_between(old: Mapping[str, str], new: Mapping[str, str]) -> dict[str, list[str | None]]:
    """`{name: [old, new]}` of the entries that differ; None for one that isn't there."""
    names = sorted(old.keys() | new.keys())
    return {name: [old.get(name), new.get(name)] for name in names if old.get(name) != new.get(name)}


def _pairs(old: Any, new: Any) -> list[tuple[str, Any, Any]] | None:
    """Elements by their key or name; the one that is left over on both sides is one element that was renamed."""
    for identity in IDENTITIES:
        before, after = _by(identity, old), _by(identity, new)
        if before is None or after is None:
            continue
        gone, come = [one for one in before if one not in after], [one for one in after if one not in before]
        renamed = {come[0]: gone[0]} if len(gone) == len(come) == 1 else {}
        pairs = [(name, one, after.get(name, ABSENT)) for name, one in before.items() if name not in renamed.values()]
        pairs += [(renamed.get(name, name), before.get(renamed.get(name, name), ABSENT), after[name]) for name in come]
        return pairs
    return None


def _by(identity: str, value: Any) -> dict[str, Any] | None:
    if not isinstance(value, Sequence) or isinstance(value, str):
        return None
    if not all(isinstance(one, Mapping) and isinstance(one.get(identity), str) for one in value):
        return None
    found = {one[identity]: one for one in value}
    return found if len(found) == len(value) else None


def _below(path: str, name: str) -> str:
    spelled = name if PLAIN.fullmatch(name) else json.dumps(name)
    return f"{path}.{spelled}" if path else spelled


def _file(entry: FileEntry) -> dict[str, Any]:
    return {"path": entry.path, "sha256": entry.sha256, "bytes": entry.bytes, "rows": entry.rows, "part": entry.part}
