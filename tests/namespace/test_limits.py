"""A run's readers open what it declared, and nothing else."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from aifactory.errors import FactoryError
from aifactory.namespace import Namespace, Publications, Snapshot
from aifactory.namespace.limits import Limit, current, limited

if TYPE_CHECKING:
    from tests.namespace.conftest import Desk

CLEAN, OTHER, MADE = "public/medquad/clean", "private/clinic/notes", "public/medquad/parts"
Read = Callable[[Namespace, Snapshot], object]


@pytest.fixture
def declared(desk: Desk) -> Snapshot:
    """The older of two versions of a key."""
    first = desk.put("first")
    desk.put("second")
    return first


@pytest.fixture
def other(desk: Desk) -> Snapshot:
    """A snapshot that nobody declared."""
    return type(desk)(desk.ns, OTHER).put("secret")


def limit(declared: Snapshot) -> Limit:
    return Limit(
        "the build of public/medquad/parts",
        {CLEAN: frozenset({declared.version})},
        output=MADE,
        places=("public/runs/build-parts-1",),
    )


def test_a_key_stands_for_the_declared_version_whatever_is_current(ns: Namespace, declared: Snapshot) -> None:
    assert ns.resolve(CLEAN) != declared
    with limited(limit(declared)):
        for name in (CLEAN, f"{CLEAN}@{declared.version[:16]}", f"{CLEAN}@{declared.version}"):
            assert ns.resolve(name) == declared
        assert ns.local(declared.canonical) == ns.local(CLEAN) == declared.path
        assert ns.local(declared.paths()[0]) == declared.paths()[0]
    assert current() is None


def test_the_declared_snapshot_alone_is_enough(ns: Namespace, declared: Snapshot) -> None:
    for path in (ns.directory(CLEAN) / "@journal").iterdir():
        path.unlink()
    with limited(limit(declared)):
        ns.resolve(CLEAN).verify()


@pytest.mark.parametrize(
    "read",
    [
        lambda ns, other: ns.resolve(OTHER),
        lambda ns, other: ns.resolve(other.name),
        lambda ns, other: ns.local(OTHER),
        lambda ns, other: ns.local(other.canonical),
        lambda ns, other: ns.local(other.paths()[0]),
        lambda ns, other: ns.directory(OTHER),
        lambda ns, other: Publications(ns, OTHER),
        lambda ns, other: Snapshot.load(other.key, other.path),
        lambda ns, other: ns.local("/factory/private/clinic/runs/train-1/spec.json"),
        lambda ns, other: ns.local("public/runs/build-parts-12"),
        lambda ns, other: ns.resolve(MADE),
        lambda ns, other: ns.class_root("private/clinic"),
        lambda ns, other: ns.class_roots(),
        lambda ns, other: ns.keys(),
        lambda ns, other: ns.places("public"),
        lambda ns, other: ns.local(f"/factory/{MADE}/@current"),
    ],
)
def test_what_is_not_declared_is_refused_by_every_reader(
    ns: Namespace, declared: Snapshot, other: Snapshot, read: Read
) -> None:
    with limited(limit(declared)), pytest.raises(FactoryError) as caught:
        read(ns, other)
    error = caught.value
    assert error.code == "undeclared"
    assert "the build of public/medquad/parts opens" in str(error)
    assert str(error.expected) == declared.name
    assert "declare it" in error.fix


@pytest.mark.parametrize("version", ["current", "short", "8 digits"])
def test_another_version_of_an_input_is_undeclared_too(ns: Namespace, declared: Snapshot, version: str) -> None:
    newest = ns.resolve(CLEAN)
    named = {"current": newest.version, "short": declared.version[:3], "8 digits": newest.version[:8]}[version]
    with limited(limit(declared)), pytest.raises(FactoryError) as caught:
        ns.resolve(CLEAN, named)
    assert caught.value.code == "undeclared"
    assert f"the declared version of {CLEAN}" in caught.value.fix
    with limited(limit(declared)), pytest.raises(FactoryError, match="did not declare"):
        Snapshot.load(newest.key, newest.path)


def test_the_run_s_own_directory_and_what_it_makes_are_open(ns: Namespace, declared: Snapshot) -> None:
    with limited(limit(declared)):
        assert ns.local("public/runs/build-parts-1/results") == ns.root / "public/runs/build-parts-1/results"
        assert Publications(ns, MADE).all() == []


def test_a_swapped_current_link_does_not_lead_around_it(ns: Namespace, declared: Snapshot) -> None:
    with limited(limit(declared)), pytest.raises(FactoryError) as caught:
        ns.local(ns.directory(CLEAN) / "@current" / "data.txt")
    assert caught.value.code == "undeclared"


def test_threads_are_limited_and_no_limit_can_be_widened_from_inside(
    ns: Namespace, declared: Snapshot, other: Snapshot
) -> None:
    codes: list[str] = []

    def work() -> None:
        try:
            Namespace(ns.root).resolve(OTHER)
        except FactoryError as error:
            codes.append(error.code)

    with limited(limit(declared)):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        with pytest.raises(RuntimeError, match="limited already"), limited(Limit("a function")):
            pass
    assert codes == ["undeclared"]
    assert ns.resolve(OTHER) == other


def test_a_run_without_inputs_says_so(ns: Namespace, other: Snapshot, tmp_path: Path) -> None:
    with limited(Limit("the build of public/a/raw", output="public/a/raw")), pytest.raises(FactoryError) as caught:
        ns.resolve(OTHER)
    assert "declares no inputs" in str(caught.value.expected)
