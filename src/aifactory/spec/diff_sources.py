"""The code and image groups of a diff: commits, source files and packages where they are known, digests else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from aifactory.spec.changes import ABSENT, leaves, names_between, packages
from aifactory.spec.difference import Change, Facts, ImageFiles, Side, change
from aifactory.store import digest

PACKAGES = "locks/"
DOCKERFILES = "docker/"


def source_changes(old: Side, new: Side, facts: Facts) -> Iterator[Change]:
    """An image whose files are known on both sides changed in its source (group code), its packages or its Dockerfile
    (group image); one that isn't, by its digest. A commit that changed nothing of the image is context."""
    before, after = old.spec.identity()["image"], new.spec.identity()["image"]
    commits = _commits(old.context, new.context)
    for name in sorted({*before, *after} - {"digest"}):
        yield from (change("image", *leaf) for leaf in leaves(name, before.get(name, ABSENT), after.get(name, ABSENT)))
    if before["digest"] == after["digest"]:
        if commits is not None:
            yield change("context", "commit", *commits, commits=_log(facts))
        return
    left, right = facts.images.get(before["digest"]), facts.images.get(after["digest"])
    if left is None or right is None:
        if commits is not None:
            yield change("code", "commit", *commits, commits=_log(facts))
        yield change("image", "digest", before["digest"], after["digest"])
        return
    parts = list(_inside(left, right, commits, facts))
    yield from parts or [change("image", "digest", before["digest"], after["digest"])]
    if commits is not None and not any(one.group == "code" for one in parts):
        yield change("context", "commit", *commits, commits=_log(facts))


def _inside(left: ImageFiles, right: ImageFiles, commits: tuple[str, str] | None, facts: Facts) -> Iterator[Change]:
    sources = [_of(image, without=(PACKAGES, DOCKERFILES)) for image in (left, right)]
    if sources[0] != sources[1]:
        old, new = commits or (digest(sources[0]), digest(sources[1]))
        log = _log(facts) if commits is not None else None
        yield change("code", "source", old, new, commits=log, files=_files(*sources))
    if left.lock != right.lock:
        pins = names_between(packages(left.lock), packages(right.lock))
        yield change("image", "packages", digest(left.lock), digest(right.lock), packages=pins)
    docker = [_of(image, only=DOCKERFILES) for image in (left, right)]
    if docker[0] != docker[1]:
        yield change("image", "dockerfile", digest(docker[0]), digest(docker[1]))


def _of(image: ImageFiles, *, only: str = "", without: tuple[str, ...] = ()) -> dict[str, str]:
    files = image.files.items()
    return {path: sha for path, sha in files if path.startswith(only) and not (without and path.startswith(without))}


def _files(old: Mapping[str, str], new: Mapping[str, str]) -> dict[str, list[str]]:
    changed = names_between(old, new)
    return {
        "added": [path for path in changed if path not in old],
        "removed": [path for path in changed if path not in new],
        "changed": [path for path in changed if path in old and path in new],
    }


def _commits(old: Mapping[str, Any], new: Mapping[str, Any]) -> tuple[str, str] | None:
    if "commit" not in old or "commit" not in new:
        return None
    before, after = _state(old), _state(new)
    return (before, after) if before != after else None


def _state(context: Mapping[str, Any]) -> str:
    commit = str(context["commit"] or "no commit is known")
    return commit + (f" dirty {str(context.get('dirty_digest'))[:16]}" if context.get("dirty") else "")


def _log(facts: Facts) -> list[str] | None:
    return None if facts.commits is None else list(facts.commits)
