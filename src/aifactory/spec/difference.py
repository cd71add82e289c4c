"""What a diff is made of: its two sides, the facts that were gathered for it, its fields."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from aifactory.namespace import Manifest
from aifactory.spec.changes import ABSENT
from aifactory.spec.run_spec import RunSpec

Group = Literal["code", "data", "image", "config", "context"]
GROUPS: tuple[Group, ...] = ("code", "data", "image", "config", "context")


@dataclass(frozen=True)
class Side:
    """One of the two: what it is called, its spec, and what is known of its context (nothing of a bare spec file)."""

    name: str
    spec: RunSpec
    context: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class ImageFiles:
    """What an image was built from: sha256 by path, and the text of its lock."""

    files: Mapping[str, str]
    lock: str


@dataclass(frozen=True)
class Facts:
    """What is known beyond specs and contexts. `manifests` by (key, version); `images` by digest; `commits` lie between
    the two resolutions (`> ` in the new one's history alone, `< ` in the old one's), None where git can't say."""

    manifests: Mapping[tuple[str, str], Manifest] = field(default_factory=dict)
    images: Mapping[str, ImageFiles] = field(default_factory=dict)
    commits: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Change:
    """One field. ABSENT is never told: `old` or `new` is None where `missing` says so. `decides`: it belongs to the
    identity. `about`: rows, bytes, files, packages, commits, as far as they are known."""

    group: Group
    name: str
    old: Any
    new: Any
    missing: Literal["old", "new"] | None = None
    about: Mapping[str, Any] = field(default_factory=dict)

    @property
    def decides(self) -> bool:
        return self.group != "context"

    def document(self) -> dict[str, Any]:
        """As JSON."""
        found = {"group": self.group, "field": self.name, "old": self.old, "new": self.new}
        return found | ({"missing": self.missing} if self.missing else {}) | dict(self.about)


@dataclass(frozen=True)
class Diff:
    """`changes` in the order of GROUPS; `old` and `new` are the names, `hashes` those of the specs."""

    old: str
    new: str
    hashes: tuple[str, str]
    changes: tuple[Change, ...]

    @property
    def except_for(self) -> tuple[str, ...]:
        """Names of the fields that decide a result; empty exactly when both specs have one hash."""
        return tuple(f"{one.group} {one.name}" for one in self.changes if one.decides)

    @property
    def verdict(self) -> str:
        """`identical except: [...]`."""
        return f"identical except: [{', '.join(self.except_for)}]"

    def document(self) -> dict[str, Any]:
        """As JSON."""
        sides = [{"name": name, "spec": hash} for name, hash in zip((self.old, self.new), self.hashes, strict=True)]
        fields = [one.document() for one in self.changes]
        return {"old": sides[0], "new": sides[1], "identical_except": list(self.except_for), "fields": fields}


def change(group: Group, name: str, old: Any, new: Any, **about: Any) -> Change:
    """A field; a side that is ABSENT is None, and said to be missing."""
    missing: Literal["old", "new"] | None = "old" if old is ABSENT else "new" if new is ABSENT else None
    known = {key: value for key, value in about.items() if value is not None}
    return Change(group, name, None if old is ABSENT else old, None if new is ABSENT else new, missing, known)
