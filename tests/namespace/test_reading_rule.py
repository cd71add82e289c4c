"""A key is read from the first root whose journal has it, `key@version` from any: against a model."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aifactory.errors import FactoryError
from aifactory.namespace import Namespace
from tests.namespace.conftest import Desk

KEY = "public/a"
ROOTS = 3
TEXTS = "xyz"


@dataclass
class Model:
    """What each root's journal says: texts that count, oldest first, after `base` publications elsewhere."""

    live: list[list[str]] = field(default_factory=lambda: [[] for _ in range(ROOTS)])
    base: list[int] = field(default_factory=lambda: [0] * ROOTS)

    def first(self, roots: tuple[int, ...]) -> int | None:
        return next((root for root in roots if self.live[root]), None)

    def number(self, roots: tuple[int, ...]) -> int:
        root = self.first(roots)
        return 0 if root is None else self.base[root] + len(self.live[root])

    def current(self, roots: tuple[int, ...]) -> str | None:
        root = self.first(roots)
        return None if root is None else self.live[root][-1]

    def publish(self, roots: tuple[int, ...], text: str) -> None:
        if self.current(roots) == text:
            return
        own = roots[0]
        if not self.live[own]:
            self.base[own] = self.number(roots)
        self.live[own].append(text)

    def drop(self, roots: tuple[int, ...]) -> str | None:
        """What the key stands for then; None when it is no fork."""
        if not self.live[roots[0]] or self.first(roots[1:]) is None:
            return None
        self.live[roots[0]] = []
        return self.current(roots)


lists = st.sampled_from([one for n in range(1, ROOTS + 1) for one in combinations(range(ROOTS), n)])
acts = st.lists(
    st.tuples(st.sampled_from(["publish", "publish", "drop"]), lists, st.sampled_from(TEXTS)), min_size=1, max_size=9
)


@settings(max_examples=60)
@given(acts)
def test_the_reading_rule(acts: list[tuple[str, tuple[int, ...], str]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        places = [Path(folder) / f"root{n}" for n in range(ROOTS)]
        model, versions = Model(), {}

        def desk(roots: tuple[int, ...]) -> Desk:
            first, *lower = (places[n] for n in roots)
            return Desk(Namespace(first, tuple(lower)), KEY)

        for act, roots, text in acts:
            if act == "publish":
                versions[text] = desk(roots).put(text).version
                model.publish(roots, text)
                continue
            expected = model.drop(roots)
            if expected is None:
                with pytest.raises(FactoryError) as caught:
                    desk(roots).publications.drop(writer="ann", why="x")
                assert caught.value.code == "no_fork"
            else:
                assert desk(roots).publications.drop(writer="ann", why="x").version == versions[expected]
        for n in range(1, ROOTS + 1):
            for roots in combinations(range(ROOTS), n):
                _agree(model, desk(roots), roots, versions)


def _agree(model: Model, desk: Desk, roots: tuple[int, ...], versions: dict[str, str]) -> None:
    assert desk.publications.number() == model.number(roots)
    current = model.current(roots)
    if current is None:
        with pytest.raises(FactoryError, match="never published"):
            desk.ns.resolve(KEY)
        return
    found = desk.ns.resolve(KEY)
    found.verify()
    assert found.version == versions[current]
    numbers = [one.n for one in desk.publications.all()]
    assert numbers == list(range(numbers[0], numbers[-1] + 1))
    readable = {text for root in roots for text in model.live[root]}
    for text, version in versions.items():
        if text in readable:
            desk.ns.resolve(KEY, version).verify()
        else:
            with pytest.raises(FactoryError) as caught:
                desk.ns.resolve(KEY, version)
            assert caught.value.code == "version"
