"""A lineage as a tree for people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from rich.text import Text
from rich.tree import Tree

from aifactory.cli.output import size
from aifactory.launch.lineage.about import describe
from aifactory.launch.lineage.graph import Branch, Direction, Lineage, Link, Node, Records
from aifactory.namespace import Key

if TYPE_CHECKING:
    from rich.console import Console

    from aifactory.namespace import Namespace

SHORT = 16
WIDEST = 10_000
FILES = 5
"""Files of a source that are listed; the rest is counted (JSON has all)."""
HEADINGS: dict[Direction, str] = {"down": "made from", "up": "went into"}
BAD = frozenset({"missing", "unknown", "damaged", "rolled back"})


def show(
    out: Console, nodes: list[Node], directions: list[Direction], records: Records, ns: Namespace, depth: int | None
) -> None:
    """Each node with a tree for each direction, and below it the models that it touched."""
    if not out.is_terminal:
        out.width = WIDEST  # a terminal folds a line within its tree; elsewhere it would be cut
    view = _View(records.lineage, ns)
    for node in nodes:
        out.print(view.tree(node, directions, depth))
        if "up" in directions:
            out.print(Text(f"models that it touched: {view.models(node)}"), soft_wrap=True)
    for root in records.unreadable:
        out.print(Text(f"{root} is not yours to read: what it holds is left out", "yellow"), soft_wrap=True)
    for line in records.damaged:
        out.print(Text(f"left out, since it is damaged: {line}", "yellow"), soft_wrap=True)


class _View:
    """Each node is described once, however often it is met, and the files of a source are listed once."""

    def __init__(self, lineage: Lineage, ns: Namespace):
        self._lineage, self._ns = lineage, ns
        self._known: dict[Node, dict[str, Any]] = {}
        self._listed: set[Node] = set()

    def tree(self, node: Node, directions: list[Direction], depth: int | None) -> Tree:
        tree = Tree(self._label(Link(node)), guide_style="dim")
        for line in self._below(node):
            tree.add(line)
        for direction in directions:
            branch = self._lineage.tree(node, direction, depth)
            heading = tree.add(Text(f"{HEADINGS[direction]}: {self._counted(node, direction)}", "bold"))
            for one in branch.branches:
                self._grow(heading, one)
        return tree

    def models(self, node: Node) -> str:
        reached = sorted(self._lineage.reach(node, "up"), key=self._lineage.order)
        models = [one for one in reached if one.kind == "snapshot" and Key(one.key).is_line]
        said = [f"{one.key}@{one.version[:SHORT]} ({self._about(one)['state']})" for one in models]
        return ", ".join(said) or "none that is promoted"

    def _grow(self, tree: Tree, branch: Branch) -> None:
        label = self._label(branch.link)
        if branch.elsewhere:
            label.append("  (more at its other place)", "dim")
        grown = tree.add(label)
        for line in self._below(branch.link.node):
            grown.add(line)
        for one in branch.branches:
            self._grow(grown, one)
        if branch.cut:
            grown.add(Text(f"and {branch.cut} more", "dim"))

    def _label(self, link: Link) -> Text:
        node, about = link.node, self._about(link.node)
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
            spec = f"spec {about['spec'][:SHORT]}" if about.get("spec") else None
            words = [f"{_noun(node, self._lineage)}{recipe}", spec]
        text.append("  " + ", ".join([word for word in words if word]))
        state = str(about.get("state", ""))
        if state not in ("", "kept"):
            text.append(f"  {state.upper() if state == 'missing' else state}", "red" if state in BAD else "green")
        return text

    def _below(self, node: Node) -> Iterator[Text]:
        """Where a lineage ends, told once: the files of a snapshot that was made from nothing, the scores of a run."""
        about = {} if node in self._listed else self._about(node)
        self._listed.add(node)
        yield from (Text(f"score {_score(one)}") for one in about.get("scores", ()))
        files = about.get("files", ())
        for one in files[:FILES]:
            yield Text(f"file {one['path']}  {size(one['bytes'])}  sha256 {one['sha256'][:SHORT]}", "dim")
        if len(files) > FILES:
            yield Text(f"and {len(files) - FILES} more files", "dim")

    def _about(self, node: Node) -> dict[str, Any]:
        if node not in self._known:
            self._known[node] = describe(node, self._lineage, self._ns)
        return self._known[node]

    def _counted(self, node: Node, direction: Direction) -> str:
        counts = Counter(_noun(one, self._lineage) for one in self._lineage.reach(node, direction))
        said = ", ".join(f"{count} {noun}{'s' if count > 1 else ''}" for noun, count in sorted(counts.items()))
        return said or "nothing that is on record"


def _noun(node: Node, lineage: Lineage) -> str:
    if node.kind == "run":
        return {"train": "training", "evaluate": "evaluation"}.get(str(lineage.about(node).get("kind")), "run")
    if node.kind == "checkpoint":
        return "checkpoint"
    return "model" if Key(node.key).is_line else "snapshot"


def _rows(rows: int | None) -> str:
    return "" if rows is None else f"{rows:,} row{'' if rows == 1 else 's'}"


def _score(score: dict[str, Any]) -> str:
    interval = f" [{score['low']:.4g}, {score['high']:.4g}]" if "low" in score and "high" in score else ""
    return f"{score['key']} {score['metric']} {score['value']:.4g}{interval}"
