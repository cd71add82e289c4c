"""Lineage: what was made of what, both ways. Pure: `aifactory.launch.lineage.records` gathers the facts before."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Self

Kind = Literal["snapshot", "checkpoint", "run"]
Direction = Literal["down", "up"]


@dataclass(frozen=True, order=True)
class Node:
    """One thing that has a name of its own: a snapshot (`key@<64 digits>`), a checkpoint (its digest), a run."""

    kind: Kind
    name: str

    @property
    def id(self) -> str:
        """Unique among all nodes."""
        return self.name if self.kind == "snapshot" else f"{self.kind} {self.name}"

    @property
    def key(self) -> str:
        """The key of a snapshot; empty for the others."""
        return self.name.partition("@")[0] if self.kind == "snapshot" else ""

    @property
    def version(self) -> str:
        """The version of a snapshot, 64 digits; empty for the others."""
        return self.name.partition("@")[2]


@dataclass(frozen=True, order=True)
class Link:
    """A node at the other end of an edge, and the role in which the one below is read."""

    node: Node
    role: str = ""


@dataclass(frozen=True)
class Fact:
    """What one record says: the node was made from those; `about` it this is known."""

    node: Node
    made_from: tuple[Link, ...] = ()
    about: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Branch:
    """A node in a tree. `elsewhere`: what is below it stands at another place of the tree; `cut`: how many links lie
    beyond the depth."""

    link: Link
    branches: tuple[Branch, ...] = ()
    elsewhere: bool = False
    cut: int = 0


class Lineage:
    """All edges that the records tell, whatever their order; several records of one node are put together."""

    def __init__(self, facts: Iterable[Fact]):
        self._about: dict[Node, dict[str, Any]] = {}
        down: defaultdict[Node, set[Link]] = defaultdict(set)
        up: defaultdict[Node, set[Link]] = defaultdict(set)
        for fact in facts:
            _merge(self._about.setdefault(fact.node, {}), fact.about)
            for link in fact.made_from:
                down[fact.node].add(link)
                up[link.node].add(Link(fact.node, link.role))
        self._ends: dict[Direction, dict[Node, tuple[Link, ...]]] = {
            "down": {node: tuple(sorted(links, key=self._order)) for node, links in down.items()},
            "up": {node: tuple(sorted(links, key=self._order)) for node, links in up.items()},
        }

    @property
    def nodes(self) -> list[Node]:
        """Every node that a record is about, sorted."""
        return sorted(self._about)

    def knows(self, node: Node) -> bool:
        """Whether a record is about it; others are only named by those that were made from them."""
        return node in self._about

    def about(self, node: Node) -> Mapping[str, Any]:
        """What is known of a node; nothing of one that is only named."""
        return self._about.get(node, {})

    def links(self, node: Node, direction: Direction) -> tuple[Link, ...]:
        """ "down": what it was made from; "up": what was made from it. Sorted."""
        return self._ends[direction].get(node, ())

    def order(self, node: Node) -> tuple[object, ...]:
        """Where people look for it among others: by kind and key, then by step and time, digests last."""
        about = self.about(node)
        return (node.kind, node.key, about.get("step") or 0, about.get("at") or "", node.name)

    def _order(self, link: Link) -> tuple[object, ...]:
        return (link.role, *self.order(link.node))

    def reach(self, start: Node, direction: Direction, depth: int | None = None) -> dict[Node, int]:
        """Every node that links lead to, with the least number of links; without `start` itself."""
        found, queue = {start: 0}, deque([start])
        while queue:
            node = queue.popleft()
            if depth is not None and found[node] >= depth:
                continue
            for link in self.links(node, direction):
                if link.node not in found:
                    found[link.node] = found[node] + 1
                    queue.append(link.node)
        del found[start]
        return found

    def tree(self, start: Node, direction: Direction, depth: int | None = None) -> Branch:
        """The same as a tree: each node once with what is below it, nearest to the start, and by name only where it is
        met again."""
        level = {start: 0, **self.reach(start, direction, depth)}
        done: set[Node] = set()

        def branch(link: Link, at: int) -> Branch:
            links = self.links(link.node, direction)
            if link.node in done or at > level.get(link.node, at):
                return Branch(link, elsewhere=bool(links))
            if depth is not None and at >= depth:
                return Branch(link, cut=len(links))
            done.add(link.node)
            return Branch(link, tuple(branch(one, at + 1) for one in links))

        return branch(Link(start), 0)


@dataclass(frozen=True)
class Records:
    """The lineage of a namespace, and what could not be read: class roots of others, and damaged records by name."""

    lineage: Lineage
    unreadable: tuple[str, ...] = ()
    damaged: tuple[str, ...] = ()

    @classmethod
    def of(cls, facts: Iterable[Fact], unreadable: Iterable[str] = (), damaged: Iterable[str] = ()) -> Self:
        """From facts in any order."""
        return cls(Lineage(facts), tuple(sorted(set(unreadable))), tuple(sorted(damaged)))


def _merge(known: dict[str, Any], more: Mapping[str, Any]) -> None:
    for name, value in more.items():
        if isinstance(value, tuple):
            known[name] = tuple(dict.fromkeys((*known.get(name, ()), *value)))
        else:
            known[name] = value
