"""What a builder leaves in the staging directory."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aifactory.data.shards import Shard
from aifactory.namespace import Column


@dataclass
class Made:
    """Columns of the rows, rows and part by relative path (files without either may be left out), and numbers for
    people."""

    columns: tuple[Column, ...] = ()
    rows: dict[str, tuple[int | None, str | None]] = field(default_factory=dict)
    metadata: dict[str, Any] = field(default_factory=dict)

    def add(self, root: Path, shards: Iterable[Shard], part: str | None = None) -> None:
        """Take in Parquet shards that stand under `root`."""
        for shard in shards:
            self.rows[shard.path.relative_to(root).as_posix()] = (shard.rows, part)
