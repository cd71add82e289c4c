"""Tables for people, JSON for machines."""

from __future__ import annotations

import getpass
import json
import socket
import sys
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from rich.console import Console

WIDTH_WITHOUT_A_TERMINAL = 200

JsonOption = typer.Option("--json", help="Print JSON, for machines.")


def console() -> Console:
    """Standard output. Where it is no terminal, lines are wide enough for whole digests."""
    from rich.console import Console

    width = None if sys.stdout.isatty() else WIDTH_WITHOUT_A_TERMINAL
    return Console(highlight=False, width=width)


def print_json(value: object) -> None:
    """One JSON document on standard output; what JSON has no type for, as text."""
    print(json.dumps(value, indent=2, default=str))


def print_table(columns: Sequence[str], rows: Iterable[Sequence[object]], *, right: Sequence[str] = ()) -> None:
    """A plain table; columns in `right` hold numbers."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(column, justify="right" if column in right else "left", overflow="fold")
    for row in rows:
        table.add_row(*(cell if isinstance(cell, Text) else Text(number(cell)) for cell in row))
    console().print(table)


def number(value: object) -> str:
    """`12,345`; a dash for nothing."""
    if value is None or value == "":
        return "-"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def size(count: int | None) -> str:
    """Bytes as people say them."""
    if count is None:
        return "-"
    amount = float(count)
    for unit in ("B", "kB", "MB", "GB"):
        if amount < 1000:
            return f"{amount:.0f} {unit}" if unit == "B" else f"{amount:.1f} {unit}"
        amount /= 1000
    return f"{amount:.1f} TB"


def age(at: str) -> str:
    """How long ago a time in UTC (ISO 8601) was: `3 d`, `2 h`, `5 min`."""
    seconds = (datetime.now(UTC) - datetime.fromisoformat(at)).total_seconds()
    for unit, length in (("d", 86400), ("h", 3600)):
        if seconds >= length:
            return f"{seconds // length:.0f} {unit}"
    return f"{max(seconds, 0) // 60:.0f} min"


def person() -> str:
    """Who runs this command: `user@machine`."""
    return f"{getpass.getuser()}@{socket.gethostname()}"
