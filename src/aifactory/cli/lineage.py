"""`aifactory lineage`: what something was made of, and what was made of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from aifactory.cli.output import JsonOption, console, print_json

if TYPE_CHECKING:
    from aifactory.launch.lineage.graph import Direction, Lineage, Node, Records
    from aifactory.namespace import Namespace

HELP = "A key, `key@version`, a run, or a checkpoint (`<run>/<step>`, its path, 8 digits or more of its digest)."


def lineage_command(
    name: Annotated[str, typer.Argument(help=HELP, metavar="KEY[@VERSION]|RUN|CHECKPOINT")],
    down: Annotated[bool, typer.Option("--down", help="Only what it was made of.")] = False,
    up: Annotated[bool, typer.Option("--up", help="Only what was made of it.")] = False,
    depth: Annotated[int | None, typer.Option(min=1, help="At most so many steps away.")] = None,
    every: Annotated[bool, typer.Option("--all", help="All versions of the key, not only its current one.")] = False,
    as_json: Annotated[bool, JsonOption] = False,
) -> None:
    """Show where something comes from, down to the files of its sources with their digests, and what it went into, up
    to every model and score.

    Read from journals, manifests and specs alone. What a record names and nobody has any more is shown as missing.
    """
    from aifactory.cli.lineage_tree import show
    from aifactory.launch.lineage.names import find_nodes
    from aifactory.launch.lineage.records import gather
    from aifactory.namespace import Namespace

    ns = Namespace.open()
    records = gather(ns)
    nodes = find_nodes(name, records.lineage, ns, every=every)
    directions: list[Direction] = []
    if down or not up:
        directions.append("down")
    if up or not down:
        directions.append("up")
    if as_json:
        print_json(document(nodes, directions, records, ns, depth))
    else:
        show(console(), nodes, directions, records, ns, depth)


def document(
    nodes: list[Node], directions: list[Direction], records: Records, ns: Namespace, depth: int | None
) -> dict[str, Any]:
    """`named`, and by direction the ids of all that is reached; `nodes` by id, each with what it was made from."""
    from aifactory.launch.lineage.about import describe

    lineage = records.lineage
    found: dict[str, Any] = {"named": [node.id for node in nodes]}
    shown = dict.fromkeys(nodes)
    for direction in directions:
        reached = {one: at for node in reversed(nodes) for one, at in lineage.reach(node, direction, depth).items()}
        found[direction] = [node.id for node in sorted(reached, key=lambda one: (reached[one], *lineage.order(one)))]
        shown |= dict.fromkeys(reached)
    found["nodes"] = {
        node.id: {"is": node.kind} | describe(node, lineage, ns) | _edges(node, lineage) for node in shown
    }
    return found | {"unreadable": list(records.unreadable), "damaged": list(records.damaged)}


def _edges(node: Node, lineage: Lineage) -> dict[str, Any]:
    return {"made_from": [{"id": link.node.id, "role": link.role} for link in lineage.links(node, "down")]}
