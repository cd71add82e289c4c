"""Values for people as Dagster metadata."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import dagster as dg

CELL = 120
BAR = 30


def metadata_value(name: str, value: Any) -> Any:
    """Numbers and text as they are (numbers are drawn in Plots), rows and mappings as markdown tables, else JSON."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float | str):
        return value
    if isinstance(value, Mapping):
        if not value:
            return "none"
        if all(isinstance(item, Mapping) for item in value.values()):
            rows = [{name: key, **item} for key, item in value.items()]
            return dg.MetadataValue.md(table(rows))
        if all(isinstance(item, int | float | str) for item in value.values()):
            return dg.MetadataValue.md(table([{name: key, "value": item} for key, item in value.items()]))
    if isinstance(value, Sequence) and value and all(isinstance(item, Mapping) for item in value):
        return dg.MetadataValue.md(table(list(value)))
    return dg.MetadataValue.json(value)


def table(rows: Sequence[Mapping[str, object]], *, width: int = CELL) -> str:
    """Rows as a markdown table; its columns are those of all rows in the order of their first use, its cells at most
    `width` characters long."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    head = f"| {' | '.join(_cell(name, width) for name in names)} |"
    body = [f"| {' | '.join(_cell(row.get(name, ''), width) for name in names)} |" for row in rows]
    return "\n".join([head, "|" + " --- |" * len(names), *body])


def histogram(buckets: Sequence[tuple[str, int]], unit: str) -> str:
    """Counts by bucket as a markdown table with bars."""
    most = max((count for _, count in buckets), default=0) or 1
    widths = [max(round(BAR * count / most), 1 if count else 0) for _, count in buckets]
    rows = [{unit: name, "rows": count, " ": "█" * width} for (name, count), width in zip(buckets, widths, strict=True)]
    return table(rows)


def _cell(value: object, width: int) -> str:
    text = f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
    text = text.replace("\\", "\\\\").replace("|", "\\|").replace("\n", " ").replace("\r", " ").replace("<", "&lt;")
    return text if len(text) <= width else text[: width - 1] + "…"
