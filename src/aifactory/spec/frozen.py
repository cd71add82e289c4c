"""Frozen specs: `<class root>/specs/<hash>/spec.json`, with a journal of who resolved them and for what."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aifactory.errors import FactoryError
from aifactory.namespace import Grant, Key, Namespace, access
from aifactory.namespace.identities import writer_of
from aifactory.spec.run_spec import RunSpec
from aifactory.store import Journal, Record, Store, canonical

SHORTEST = 8
"""Hex digits that are enough to look a frozen spec up by."""


@dataclass(frozen=True)
class Frozen:
    """A frozen spec, its file, and its resolutions, oldest first."""

    spec: RunSpec
    path: Path
    resolutions: tuple[Record, ...]

    @property
    def resolution(self) -> Mapping[str, Any]:
        """The newest resolution (recipe, line, suites with versions, baseline, commit ...); empty if there is none."""
        return self.resolutions[-1].body if self.resolutions else {}

    def numbered(self, number: int) -> Mapping[str, Any]:
        """One resolution by its number, 1 the oldest. FactoryError with code "unknown_resolution" lists them."""
        for one in self.resolutions:
            if one.n == number:
                return one.body
        raise FactoryError(
            f"the spec {self.spec.hash[:16]} has no resolution {number}",
            found=number,
            expected="; ".join(f"{one.n} ({_told(one)})" for one in self.resolutions) or "none",
            fix="name one of these, or none for the newest",
            code="unknown_resolution",
        )


def _told(one: Record) -> str:
    names = ("recipe", "line", "requester")
    return ", ".join([f"{name} {one.body[name]}" for name in names if one.body.get(name)] + [one.at[:19]])


def access_of(spec: RunSpec, resolution: Mapping[str, Any] | None = None, grants: Iterable[Grant] = ()) -> str:
    """The class of everything that a run of this spec writes: that of the key that it builds, or of the resolution's
    line, if all that is read (inputs, and the suites of the resolution) may flow there; else what is derived from all
    of them. FactoryError with code "class" for two projects that no grant joins."""
    grants = tuple(grants)
    said = resolution or {}
    own = spec.build.key if spec.kind == "build" else said.get("line")
    read = [*(ref.key for ref in spec.inputs), *(suite["key"] for suite in said.get("suites") or ())]
    classes = [Key.parse(key).access for key in read]
    if own is None:
        return access.derive(classes, grants)
    declared = Key.parse(own).access
    allowed = all(access.flows(one, declared, grants) for one in classes)
    return declared if allowed else access.derive([declared, *classes], grants)


def freeze(ns: Namespace, spec: RunSpec, resolution: Mapping[str, Any], *, grants: Iterable[Grant] = ()) -> Path:
    """Write `spec.json` unless it is there, add the resolution to its journal unless the newest one is equal.

    Returns the path. FactoryError with code "edited" if another spec stands under this hash.
    """
    of = access_of(spec, resolution, grants)
    directory = ns.class_root(of) / "specs" / spec.hash
    path: Path = directory / "spec.json"
    if not Store(directory).put("spec.json", spec.to_bytes()):
        RunSpec.load(path, hash=spec.hash)
    body = dict(resolution)
    journal = Journal(directory / "resolutions")
    last = journal.last()
    if last is None or canonical(last.body) != canonical(body):
        journal.append(body, writer=writer_of(of))
    return path


def load_frozen(ns: Namespace, hash: str) -> Frozen:
    """The frozen spec of this hash (or of a prefix of at least 8 digits that only one has), verified.

    Where several classes or roots hold it, the one that was resolved last. FactoryError with code "unknown_spec",
    "edited".
    """
    found = {path for path in _directories(ns) if len(hash) >= SHORTEST and path.name.startswith(hash)}
    names = {path.name for path in found}
    if len(names) != 1:
        raise FactoryError(
            f"{hash}: {'more than one' if names else 'no'} frozen spec has this hash",
            found=", ".join(sorted(names)) or "none",
            expected=f"64 hex digits, or at least {SHORTEST} that only one has",
            fix="name more digits" if names else "`aifactory plan` freezes a spec and prints its hash",
            code="unknown_spec",
        )
    return max((_load(path) for path in found), key=_resolved_at)


def _load(directory: Path) -> Frozen:
    path = directory / "spec.json"
    spec = RunSpec.load(path, hash=directory.name)
    return Frozen(spec=spec, path=path, resolutions=tuple(Journal(directory / "resolutions").records()))


def _resolved_at(frozen: Frozen) -> str:
    return str(frozen.resolutions[-1].at) if frozen.resolutions else ""


def _directories(ns: Namespace) -> Iterator[Path]:
    for root in ns.class_roots():
        specs = root / "specs"
        if specs.is_dir():
            yield from (one for one in specs.iterdir() if (one / "spec.json").is_file())
