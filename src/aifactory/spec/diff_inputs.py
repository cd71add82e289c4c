"""The data group of a diff: inputs by version, with what changed inside."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from aifactory.spec.changes import ABSENT, count, files_between
from aifactory.spec.difference import Change, Facts, change
from aifactory.store import canonical

Ref = Mapping[str, Any]
# An input is the same one as long as anything that people call it by stays.
SAME: tuple[tuple[str, ...], ...] = (("role", "key", "part"), ("role", "key"), ("key",), ("role",))


def input_changes(before: Mapping[str, Any], after: Mapping[str, Any], facts: Facts) -> Iterator[Change]:
    """One field for each input that was changed, added or removed, named by its role."""
    for old, new in _paired(before.get("inputs") or [], after.get("inputs") or []):
        if old is None or new is None:
            known = old or new or {}
            yield change("data", _name(known), old or ABSENT, new or ABSENT)
        else:
            yield change("data", _name(new, old), old, new, **_about(old, new, facts))


def _paired(before: Sequence[Ref], after: Sequence[Ref]) -> Iterator[tuple[Ref | None, Ref | None]]:
    same = {canonical(one) for one in before} & {canonical(one) for one in after}
    left = [one for one in before if canonical(one) not in same]
    right = [one for one in after if canonical(one) not in same]
    for names in SAME:

        def by(ref: Ref, names: tuple[str, ...] = names) -> tuple[object, ...]:
            return tuple(ref.get(name) for name in names)

        for old in list(left):
            new = _only(right, by, by(old)) if _only(left, by, by(old)) is old else None
            if new is not None:
                left.remove(old)
                right.remove(new)
                yield old, new
    yield from ((old, None) for old in left)
    yield from ((None, new) for new in right)


def _only(refs: Sequence[Ref], by: Callable[[Ref], tuple[object, ...]], value: tuple[object, ...]) -> Ref | None:
    found = [one for one in refs if by(one) == value]
    return found[0] if len(found) == 1 else None


def _name(ref: Ref, old: Ref | None = None) -> str:
    """`mix public/icd10cm/ready`; a role that is called after its key's last segment says it once."""
    role, key = str(ref["role"]), str((old or ref)["key"])
    return key if key.rpartition("/")[2] == role else f"{role} {key}"


def _about(old: Ref, new: Ref, facts: Facts) -> dict[str, Any]:
    before = facts.manifests.get((old["key"], old["version"]))
    after = facts.manifests.get((new["key"], new["version"]))
    if before is None or after is None:
        gone = [f"{ref['key']}@{ref['version'][:16]}" for ref, known in ((old, before), (new, after)) if known is None]
        return {"unknown": gone} if old["kind"] != "checkpoint" else {}
    (old_rows, old_bytes), (new_rows, new_bytes) = count(before, old.get("part")), count(after, new.get("part"))
    found: dict[str, Any] = {"rows": [old_rows, new_rows], "bytes": [old_bytes, new_bytes]}
    return found | {"files": files_between(before, after)}
