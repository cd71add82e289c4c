"""A desk to make snapshots on."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest

from aifactory.namespace import Namespace, Publications, Published, Snapshot, Staging, sweep

VERSION = re.compile(r"@[0-9a-f]{16}")


@dataclass
class Desk:
    """Builds and publishes one key; `content` is a text for one file, or texts by path."""

    ns: Namespace
    key: str = "public/medquad/clean"

    @property
    def publications(self) -> Publications:
        return Publications(self.ns, self.key)

    def build(self, content: str | Mapping[str, str], run: str = "run") -> Snapshot:
        files = {"data.txt": content} if isinstance(content, str) else content
        with Staging.start(self.ns, self.key, run) as staging:
            for name, text in files.items():
                path = staging.path / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            return staging.seal(kind="files")[0]

    def publish(self, snapshot: Snapshot, frozen: int | None = None, **changes: Any) -> Published:
        fields = {
            "run": "run",
            "writer": "ann",
            "build_key": f"build of {snapshot.version}",
            "inputs": {},
            "code_version": "1",
        }
        number = self.publications.number() if frozen is None else frozen
        return self.publications.publish(snapshot.version, number, **fields | changes)

    def put(self, content: str | Mapping[str, str], **changes: Any) -> Snapshot:
        """A snapshot that is built and published."""
        snapshot = self.build(content)
        self.publish(snapshot, **changes)
        return snapshot

    def names(self) -> list[str]:
        """What stands in the key's directory."""
        directory = self.ns.directory(self.key)
        return sorted(path.name for path in directory.iterdir()) if directory.exists() else []

    def check(self, *allowed: Snapshot) -> None:
        """The key is in order: current is one of `allowed` and whole, and everything visible is whole."""
        resolved = self.ns.resolve(self.key)
        assert resolved.version in {snapshot.version for snapshot in allowed}
        resolved.verify()
        for publication in self.publications.all():
            self.ns.resolve(self.key, publication.version).verify()
        directory = self.ns.directory(self.key)
        for path in directory.iterdir():
            if VERSION.fullmatch(path.name):
                Snapshot.load(resolved.key, path).verify()
        assert (directory / "@current").resolve().parent == directory.resolve()
        assert (directory / "@current" / "manifest.json").exists()

    def tidy(self) -> None:
        """Sweeps at once, and asserts that nothing but snapshots and journals is left."""
        sweep(self.ns, older_than=timedelta(0))
        kept = {"@journal", "@current", "@audits"}
        assert [name for name in self.names() if name not in kept and not VERSION.fullmatch(name)] == []
        assert not any(self.ns.directory(self.key).rglob(".tmp-*"))


@pytest.fixture
def desk(ns: Namespace) -> Desk:
    return Desk(ns)
