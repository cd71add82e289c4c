"""The graph of what was made of what: both ways are one graph, whatever the order of its records."""

from __future__ import annotations

from collections.abc import Iterator

from hypothesis import given
from hypothesis import strategies as st

from aifactory.launch.lineage.graph import Branch, Direction, Fact, Lineage, Link, Node

DIRECTIONS: tuple[Direction, Direction] = ("down", "up")


def node(number: int) -> Node:
    if number % 3 == 0:
        return Node("snapshot", f"public/a/b{number}@{number:064x}")
    return Node("checkpoint", f"{number:064x}") if number % 3 == 1 else Node("run", f"train-{number}")


@st.composite
def worlds(draw: st.DrawFn) -> list[Fact]:
    """Records in which a thing is made of earlier ones; several records may be about one thing, and some are lost."""
    count = draw(st.integers(1, 25))
    facts = []
    for number in range(count):
        made_from = draw(st.lists(st.integers(0, number - 1), max_size=3)) if number else []
        links = tuple(Link(node(one), draw(st.sampled_from(("", "mix")))) for one in made_from)
        facts += [Fact(node(number), links[:1], {"n": (1,)}), Fact(node(number), links[1:], {"n": (2,)})]
    kept = draw(st.lists(st.booleans(), min_size=len(facts), max_size=len(facts)))
    return draw(st.permutations([fact for fact, keep in zip(facts, kept, strict=True) if keep or not fact.made_from]))


def everything(lineage: Lineage) -> set[Node]:
    named = {link.node for one in lineage.nodes for link in lineage.links(one, "down")}
    return {*lineage.nodes, *named}


@given(worlds())
def test_down_and_up_are_inverse(facts: list[Fact]) -> None:
    lineage = Lineage(facts)
    nodes = everything(lineage)
    down = {(one, other) for one in nodes for other in lineage.reach(one, "down")}
    up = {(other, one) for one in nodes for other in lineage.reach(one, "up")}
    assert down == up
    edges = {(one, link) for one in nodes for link in lineage.links(one, "down")}
    assert edges == {(link.node, Link(one, link.role)) for one in nodes for link in lineage.links(one, "up")}


@given(worlds())
def test_what_is_below_what_is_below_is_below(facts: list[Fact]) -> None:
    lineage = Lineage(facts)
    for one in everything(lineage):
        reached = lineage.reach(one, "down")
        assert one not in reached
        for other in reached:
            assert lineage.reach(other, "down").keys() <= reached.keys()


@given(worlds(), st.randoms())
def test_the_order_of_records_decides_nothing(facts: list[Fact], random: object) -> None:
    shuffled = list(facts)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    one, other = Lineage(facts), Lineage(shuffled)
    assert everything(one) == everything(other)
    for name in everything(one):
        for direction in DIRECTIONS:
            assert one.tree(name, direction) == other.tree(name, direction)
        assert set(one.about(name).get("n", ())) == set(other.about(name).get("n", ()))


def within(branch: Branch) -> Iterator[Branch]:
    yield branch
    for one in branch.branches:
        yield from within(one)


@given(worlds(), st.one_of(st.none(), st.integers(1, 4)))
def test_a_tree_has_all_that_is_reached_and_unfolds_nothing_twice(facts: list[Fact], depth: int | None) -> None:
    lineage = Lineage(facts)
    for start in everything(lineage):
        for direction in DIRECTIONS:
            branches = list(within(lineage.tree(start, direction, depth)))
            assert {one.link.node for one in branches[1:]} - {start} == lineage.reach(start, direction, depth).keys()
            unfolded = [one.link.node for one in branches if one.branches]
            assert len(unfolded) == len(set(unfolded))
            for one in branches:
                links = lineage.links(one.link.node, direction)
                assert one.elsewhere or len(one.branches) + one.cut == len(links)


def test_a_circle_ends() -> None:
    a, b = node(1), node(2)
    lineage = Lineage([Fact(a, (Link(b),)), Fact(b, (Link(a),))])
    assert lineage.reach(a, "down") == {b: 1}
    assert [one.link.node for one in within(lineage.tree(a, "down"))] == [a, b, a]


def test_what_is_only_named_is_not_known() -> None:
    lineage = Lineage([Fact(node(2), (Link(node(1)),), {"kind": "train"})])
    assert lineage.knows(node(2))
    assert not lineage.knows(node(1))
    assert lineage.about(node(1)) == {}
