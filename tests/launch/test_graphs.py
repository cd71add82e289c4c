"""Random graphs with random classes and grants: nothing private ever reaches something public, whether it is loaded,
written or mounted, and nothing that is allowed is refused.

The oracle knows no rule of ours: it walks the graph from every asset up to what it is made of, and asks whether written
permissions lead from each owner on the way to the asset's own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from aifactory.errors import FactoryError
from aifactory.launch import mounts
from aifactory.namespace import Grant, access
from aifactory.spec import Build, ImageRef, InputRef, RunSpec, access_of, check_place

GRAPHS, ASSETS, LOOKED_AT = 2_000, 200, 3
PROJECTS = [f"private/p{n}" for n in range(4)]
IMAGE = ImageRef(name="data", digest="0" * 64)
pairs = st.lists(st.permutations(PROJECTS).map(lambda all: (all[0], all[1])), max_size=5, unique=True)


@dataclass(frozen=True)
class Graph:
    """`inputs` by key; `of` is the class of each key; `permitted` are the pairs that somebody wrote down."""

    inputs: Mapping[str, tuple[str, ...]]
    of: Mapping[str, str]
    permitted: frozenset[tuple[str, str]]

    @property
    def grants(self) -> list[Grant]:
        return [Grant(source, target, "board") for source, target in sorted(self.permitted)]

    @property
    def wrong(self) -> set[tuple[str, str]]:
        """Edges that nobody permits."""
        return {
            (read, made)
            for made, above in self.inputs.items()
            for read in above
            if self.of[read] not in ("public", self.of[made])
            and (self.of[made] == "public" or (self.of[read], self.of[made]) not in self.permitted)
        }

    def owners(self) -> dict[str, set[str]]:
        """The classes of everything that each asset is made of, at whatever distance; its own too."""
        found: dict[str, set[str]] = {}
        for key, above in self.inputs.items():  # made in order: what is read comes first
            found[key] = {self.of[key]}.union(*(found[one] for one in above))
        return found

    def reaches(self) -> set[tuple[str, str]]:
        """Pairs of projects that a chain of permissions joins."""
        joined = set(self.permitted)
        for middle in PROJECTS:
            joined |= {(a, b) for a, m in joined if m == middle for n, b in joined if n == middle}
        return joined


@st.composite
def graphs(draw: st.DrawFn, *, obeys: bool) -> Graph:
    """Up to 200 assets, each made of up to four earlier ones; `obeys`: of those alone that are permitted to it."""
    size, private = draw(st.integers(1, ASSETS)), draw(st.sampled_from([0.05, 0.5, 0.95]))
    permitted = frozenset(draw(pairs))
    chance = Random(draw(st.integers(0, 2**32)))
    of: dict[str, str] = {}
    inputs: dict[str, tuple[str, ...]] = {}
    by_class: dict[str, list[str]] = {}
    for number in range(size):
        own = chance.choice(PROJECTS) if chance.random() < private else "public"
        key = f"{own}/asset_{number}"
        if obeys:
            readable = ["public", own, *(source for source, target in permitted if target == own)]
            earlier = [one for name in dict.fromkeys(readable) for one in by_class.get(name, ())]
        else:
            earlier = list(of)
        above = chance.sample(earlier, min(len(earlier), chance.randrange(5)))
        of[key], inputs[key] = own, tuple(dict.fromkeys(above))
        by_class.setdefault(own, []).append(key)
    return Graph(inputs, of, permitted)


def error_of(check: Callable[..., object], *arguments: object, **named: object) -> FactoryError | None:
    try:
        check(*arguments, **named)
    except FactoryError as error:
        return error
    return None


def refused(check: Callable[..., object], *arguments: object, **named: object) -> bool:
    error = error_of(check, *arguments, **named)
    assert error is None or error.code == "class"
    return error is not None


def build(key: str, of: str, above: Iterable[str]) -> RunSpec:
    config = Build(key=key, kind="table", function="assets.a:b", code_version="1", access=of)
    refs = tuple(InputRef(role=f"input{n}", kind="dataset", key=one, version="a" * 64) for n, one in enumerate(above))
    return RunSpec(kind="build", config=config, inputs=refs, image=IMAGE)


def look_at(graph: Graph, made: str) -> bool:
    """Whether the asset is refused; every place that asks must give the same answer."""
    own, above, grants = graph.of[made], graph.inputs[made], graph.grants
    spec = build(made, own, above)
    written = refused(access.check, own, {one: access.of_key(one) for one in above}, grants)
    placed = refused(check_place, Path(f"/lab/{own}/runs/build-1"), above, grants)
    mounted = refused(mounts, spec, "build-1", own, grants=grants)
    assert written == placed == mounted
    try:
        where = access_of(spec, None, grants)
    except FactoryError:
        assert written
        return True
    assert all(access.flows(graph.of[one], where, grants) for one in above)
    assert written or where == own
    return written


@settings(max_examples=GRAPHS // 2)
@given(graphs(obeys=False))
def test_nothing_private_reaches_what_may_not_hold_it(graph: Graph) -> None:
    loads = not refused(access.check_graph, graph.inputs, graph.grants)
    owners, reaches, wrong = graph.owners(), graph.reaches(), graph.wrong
    clean = all(
        one in ("public", graph.of[key]) or (one, graph.of[key]) in reaches
        for key, above in owners.items()
        for one in above
    )
    assert loads == (not wrong)
    assert clean or not loads
    if reaches == graph.permitted:
        assert loads == clean
    leaky = {made for _, made in wrong}
    risky = sorted(leaky, key=lambda key: (graph.of[key] != "public", key))[:LOOKED_AT]
    rest = [key for key in graph.inputs if key not in leaky][-LOOKED_AT:]
    assert all(look_at(graph, made) for made in risky)
    assert not any(look_at(graph, made) for made in rest)


@settings(max_examples=GRAPHS // 2)
@given(graphs(obeys=True), st.data())
def test_what_is_allowed_is_never_refused_and_one_wrong_edge_is_named(graph: Graph, data: st.DataObject) -> None:
    access.check_graph(graph.inputs, graph.grants)
    owners = graph.owners()
    assert all(owners[key] == {"public"} for key, of in graph.of.items() if of == "public")
    for made in list(graph.inputs)[-LOOKED_AT:]:
        assert not look_at(graph, made)
    private = [key for key, of in graph.of.items() if of != "public"]
    if private:
        source = data.draw(st.sampled_from(private))
        leak = "public/asset_leak"
        error = error_of(access.check_graph, {**graph.inputs, leak: (source,)}, graph.grants)
        assert error is not None
        assert f"{source} -> {leak}" in str(error)
        assert error.fix == f"move it under {graph.of[source]}"
