"""A diff as text: a line for each field, and lines below it for what is known about it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from aifactory.spec.difference import GROUPS, Change, Diff

ARROW = " -> "
DIGEST, SHORT = 64, 16
MOST = 20
"""Files, packages or commits of one field that are listed; the rest is counted (JSON has all)."""


def lines(found: Diff) -> Iterator[str]:
    """The verdict, then every group that has fields; what decides nothing comes last and says so."""
    yield found.verdict
    for group in GROUPS:
        changes = [one for one in found.changes if one.group == group]
        if changes:
            yield f"{group}{' (decides no result)' if group == 'context' else ''}"
        for one in changes:
            yield f"  {one.name}: {ARROW.join(values(one))}{_amounts(one)}"
            yield from (f"    {line}" for line in details(one))


def values(change: Change) -> tuple[str, str]:
    """Old and new, digests by their first 16 digits."""
    old = "(none)" if change.missing == "old" else _value(change.old)
    return old, "(none)" if change.missing == "new" else _value(change.new)


def summary(change: Change) -> str:
    """What is known about it in a few words, without any name out of the data: counts alone."""
    parts = [_amounts(change).removeprefix("   ")]
    for what in ("files", "packages", "commits"):
        if what in change.about:
            parts.append(_counted(what, change.about[what]))
    return "; ".join(part for part in parts if part)


def details(change: Change) -> Iterator[str]:
    """Commits, files and packages, one a line."""
    about = change.about
    for name in about.get("unknown", ()):
        yield f"the manifest of {name} is not here"
    yield from _most(list(about.get("commits", ())), "commits")
    files: Mapping[str, Sequence[Any]] = about.get("files", {})
    marked = (
        [(mark, one) for mark, kind in (("+", "added"), ("-", "removed"), ("~", "changed")) for one in files[kind]]
        if files
        else []
    )
    yield from _most([f"{mark} {_file(one)}" for mark, one in marked], "files")
    pins = about.get("packages", {})
    yield from _most(
        [f"{name} {old or '(none)'}{ARROW}{new or '(none)'}" for name, (old, new) in pins.items()], "packages"
    )


def _most(found: list[str], what: str) -> Iterator[str]:
    yield from found[:MOST]
    if len(found) > MOST:
        yield f"and {len(found) - MOST:,} more {what}"


def _file(one: Any) -> str:
    if isinstance(one, str):
        return one
    if "sha256" in one:
        return f"{one['path']} {one['sha256'][:SHORT]}"
    return f"{one['path']} {one['old']['sha256'][:SHORT]}{ARROW}{one['new']['sha256'][:SHORT]}"


def _amounts(change: Change) -> str:
    said = []
    for unit in ("rows", "bytes"):
        old, new = change.about.get(unit, (None, None))
        if old is not None or new is not None:
            moved = f" ({new - old:+,})" if old is not None and new is not None else ""
            said.append(f"{unit} {_number(old)}{ARROW}{_number(new)}{moved}")
    return f"   {', '.join(said)}" if said else ""


def _number(value: int | None) -> str:
    return "unknown" if value is None else f"{value:,}"


def _counted(what: str, found: Any) -> str:
    if what == "files":
        return ", ".join(f"{len(some)} {kind}" for kind, some in found.items() if some) + " files"
    if what == "packages":
        return ", ".join(f"{name} {old or '(none)'}{ARROW}{new or '(none)'}" for name, (old, new) in found.items())
    return f"{len(found)} commits"


def _value(value: Any) -> str:
    if isinstance(value, Mapping) and "version" in value and "key" in value:
        part = f" ({value['part']})" if value.get("part") else ""
        return f"{value['key']}@{value['version'][:SHORT]}{part}"
    if not isinstance(value, str):
        return json.dumps(value, sort_keys=True)
    head, _, rest = value.partition(" ")
    hexadecimal = len(head) in (40, DIGEST) and set(head) <= set("0123456789abcdef")
    return (head[:SHORT] + (f" {rest}" if rest else "")) if hexadecimal else value
