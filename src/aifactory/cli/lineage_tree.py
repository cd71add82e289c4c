"""A lineage as a tree for people."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from rich.text import Text
from rich.tree import Tree

from aifactory.cli.output import size
from aifactory.launch.lineage import Branch, Direction, Lineage, Link, Node, Records
from aifactory.launch.lineage_about import describe
from aifactory.namespace import Key

if TYPE_CHECKING:
    from rich.console import Console

    from aifactory.namespace import Namespace

SHORT = 16
FILES = 5
"""Files of a source that are listed; the rest is counted (JSON has all)."""
HEADINGS: dict[Direction, str] = {"down": "made from", "up": "went into"}


def show(
    out: Console, nodes: list[Node], directions: list[Direction], records: Records, ns: Namespace, depth: int | None
) -> None:
    """Each node with a tree for each direction, and below it the models that it touched."""
    lineage = records.lineage
    listed: set[Node] = set()
    for node in nodes:
        tree = Tree(_label(Link(node), lineage, ns), guide_style="dim")
        for direction in directions:
            branch = lineage.tree(node, direction, depth)
            heading = tree.add(Text(f"{HEADINGS[direction]}{_counted(node, lineage, direction)}", "bold"))
            for one in branch.branches:
                _grow(heading, one, lineage, ns, listed)
            if branch.cut:
                heading.add(Text(f"and {branch.cut} more", "dim"))
        for text in _sources(node, lineage, ns, listed):
            tree.add(text)
        out.print(tree, soft_wrap=True)
        if "up" in directions:
            out.print(Text(f"models that it touched: {_models(node, lineage, ns)}"), soft_wrap=True)
    for root in records.unreadable:
        out.print(Text(f"{root} is not yours to read: what it holds is left out", "yellow"), soft_wrap=True)
    for line in records.damaged:
        out.print(Text(f"left out, since it is damaged: {line}", "yellow"), soft_wrap=True)


def _grow(tree: Tree, branch: Branch, lineage: Lineage, ns: Namespace, listed: set[Node]) -> None:
    label = _label(branch.link, lineage, ns)
    if branch.elsewhere:
        label.append("  (more at its other place)", "dim")
    grown = tree.add(label)
    for line in _sources(branch.link.node, lineage, ns, listed):
        grown.add(line)
    for one in branch.branches:
        _grow(grown, one, lineage, ns, listed)
    if branch.cut:
        grown.add(Text(f"and {branch.cut} more", "dim"))


def _label(link: Link, lineage: Lineage, ns: Namespace) -> Text:
    node, about = link.node, describe(link.node, lineage, ns)
    text = Text(f"{link.role}: " if link.role else "")
    if node.kind == "snapshot":
        text.append(f"{node.key}@{node.version[:SHORT]}", "bold")
        words = [about.get("kind"), _rows(about.get("rows"))]
    elif node.kind == "checkpoint":
        text.append(f"checkpoint {node.name[:SHORT]}", "bold")
        words = [f"step {about['step']}" if about.get("step") is not None else None]
    else:
        text.append(node.name, "bold")
        recipe = f" of {about['recipe']}" if about.get("recipe") else ""
        words = [f"{_noun(node, lineage)}{recipe}", f"spec {about['spec'][:SHORT]}" if about.get("spec") else None]
        words += [_score(one) for one in about.get("scores", ())]
    state = str(about.get("state", ""))
    text.append("  " + ", ".join([word for word in words if word]))
    if state not in ("", "kept"):
        bad = state in ("missing", "unknown", "damaged", "rolled back")
        text.append(f"  {state.upper() if state == 'missing' else state}", "red" if bad else "green")
    return text


def _rows(rows: int | None) -> str:
    return "" if rows is None else f"{rows:,} row{'' if rows == 1 else 's'}"


def _score(score: dict[str, Any]) -> str:
    interval = f" [{score['low']:.4g}, {score['high']:.4g}]" if "low" in score and "high" in score else ""
    return f"{score['key']} {score['metric']} {score['value']:.4g}{interval}"


def _sources(node: Node, lineage: Lineage, ns: Namespace, listed: set[Node]) -> list[Text]:
    """The files of a snapshot that was made from nothing, once: where a lineage ends."""
    if node in listed:
        return []
    listed.add(node)
    files = describe(node, lineage, ns).get("files", [])
    lines = [Text(f"file {one['path']}  {size(one['bytes'])}  sha256 {one['sha256'][:SHORT]}", "dim") for one in files]
    return lines[:FILES] + ([Text(f"and {len(lines) - FILES} more files", "dim")] if len(lines) > FILES else [])


def _counted(node: Node, lineage: Lineage, direction: Direction) -> str:
    counts = Counter(_noun(one, lineage) for one in lineage.reach(node, direction))
    said = ", ".join(f"{count} {noun}{'s' if count > 1 else ''}" for noun, count in sorted(counts.items()))
    return f": {said}" if said else ": nothing that is on record"


def _noun(node: Node, lineage: Lineage) -> str:
    if node.kind == "run":
        return {"train": "training", "evaluate": "evaluation"}.get(str(lineage.about(node).get("kind")), "run")
    if node.kind == "checkpoint":
        return "checkpoint"
    return "model" if Key(node.key).is_line else "snapshot"


def _models(node: Node, lineage: Lineage, ns: Namespace) -> str:
    reached = [one for one in sorted(lineage.reach(node, "up")) if one.kind == "snapshot" and Key(one.key).is_line]
    said = [f"{one.key}@{one.version[:SHORT]} ({describe(one, lineage, ns)['state']})" for one in reached]
    return ", ".join(said) or "none that is promoted"
