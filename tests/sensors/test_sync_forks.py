"""What a Dagster over a read-only root is told: of the mount, of a fork, and of the mount again after a drop."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest

from aifactory.namespace import Namespace, Publications
from aifactory.orchestrate.keys import asset_key
from aifactory.orchestrate.reported import materializations, value_of
from aifactory.orchestrate.sync import sync
from tests.sensors.publishing import publish

KEY = "public/letters/raw"


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.ephemeral() as instance:
        yield instance


@pytest.fixture
def lab(tmp_path: Path) -> Namespace:
    return Namespace(tmp_path / "lab")


@pytest.fixture
def own(tmp_path: Path, lab: Namespace) -> Namespace:
    return Namespace(tmp_path / "own", (lab.root,))


def shown(instance: dg.DagsterInstance) -> tuple[object, str]:
    """Number and version that Dagster takes for current."""
    event = next(iter(materializations(instance, asset_key(KEY))))
    return value_of(event, "publication"), event.tags["dagster/data_version"]


def drop(ns: Namespace) -> None:
    Publications(ns, KEY).drop(writer="ann", why="the lab's is better")


def test_the_mounts_publications_are_told(instance: dg.DagsterInstance, lab: Namespace, own: Namespace) -> None:
    publish(lab, KEY, "a")
    second = publish(lab, KEY, "b")
    said, cursor = sync(instance, own, None)
    assert len(said) == 2
    assert shown(instance) == (2, second.version)
    third = publish(lab, KEY, "c")
    assert len(sync(instance, own, cursor)[0]) == 1
    assert shown(instance) == (3, third.version)


@pytest.mark.parametrize("later", [0, 1, 2])
@pytest.mark.parametrize("lost", [False, True])
def test_a_fork_is_told_and_its_end_too(
    instance: dg.DagsterInstance, lab: Namespace, own: Namespace, later: int, lost: bool
) -> None:
    current = publish(lab, KEY, "a")
    _, cursor = sync(instance, own, None)
    fork = publish(own, KEY, "mine")
    _, cursor = sync(instance, own, cursor)
    assert shown(instance) == (2, fork.version)
    told = next(iter(materializations(instance, asset_key(KEY))))
    assert value_of(told, "fork of") == f"publication 1 of {lab.root}"
    for n in range(later):
        current = publish(lab, KEY, f"lab {n}")
    said, cursor = sync(instance, own, cursor)
    assert said == []  # the fork hides them
    drop(own)
    _, cursor = sync(instance, own, None if lost else cursor)
    assert shown(instance) == (1 + later, current.version)
    assert sync(instance, own, cursor)[0] == []
    assert sync(instance, own, None)[0] == []
    again = publish(own, KEY, "mine")
    _, cursor = sync(instance, own, cursor)
    assert shown(instance) == (2 + later, again.version)
    assert sync(instance, own, None)[0] == []
