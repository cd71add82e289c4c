"""What `aifactory plan --mounts` shows: the directories that a run will see, and nothing else of the namespace."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aifactory.cli.output import console

if TYPE_CHECKING:
    from aifactory.launch import Plan

RUN = "<run>"
"""Stands for the name, which a launch gives."""


def rows(planned: Plan) -> list[dict[str, str | bool]]:
    """The mounts as JSON values."""
    from aifactory.launch import mounts_of

    return [{"target": one.target, "read_only": one.read_only, "why": one.why} for one in mounts_of(planned, RUN)]


def show_mounts(planned: Plan) -> None:
    """One line per directory."""
    from rich.text import Text

    from aifactory.launch import mounts_of

    out = console()
    out.print(Text("what the run sees of the namespace", "bold"))
    for one in mounts_of(planned, RUN):
        out.print(Text(f"  {'read-only' if one.read_only else 'read-write':10} {one.target}  ({one.why})"))
