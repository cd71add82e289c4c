"""Fixtures for launches on a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from aifactory.namespace import Namespace
from tests.kube.driver import Drivers, drivers
from tests.kube.space import Space
from tests.launch.kuberay.flight import Flight
from tests.launch.lab import Lab


@pytest.fixture(scope="session")
def cluster_project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project of these tests' own: each writes its clusters.toml."""
    return tmp_path_factory.mktemp("clusters") / "project"


@pytest.fixture
def cluster_lab(cluster_project: Path, ns: Namespace) -> Lab:
    return Lab(cluster_project, ns)


@pytest.fixture
def driven(cluster_lab: Lab, space: Space) -> Iterator[Drivers]:
    """What the Ray jobs of the space would do is done here."""
    with drivers(space, cluster_lab.ns.root, cluster_lab.image) as found:
        yield found


@pytest.fixture
def flights(cluster_lab: Lab, space: Space, driven: Drivers) -> Callable[..., Flight]:
    """`flights("build-probe-1", start_seconds=6)`: a run of the test's namespaces, on a cluster like this."""

    def make(run: str = "build-probe-000000000001", **changes: object) -> Flight:
        return Flight(cluster_lab, space, run, **changes)

    return make


@pytest.fixture
def flight(flights: Callable[..., Flight]) -> Flight:
    return flights()
