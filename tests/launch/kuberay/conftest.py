"""Fixtures for launches on a cluster."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from aifactory.namespace import Namespace
from tests.kube.space import Space
from tests.launch.kuberay.flight import Flight
from tests.launch.lab import Lab


@pytest.fixture(scope="session")
def cluster_project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project of these tests' own: each writes its clusters.toml."""
    return tmp_path_factory.mktemp("clusters") / "project"


@pytest.fixture
def flights(cluster_project: Path, ns: Namespace, space: Space) -> Callable[..., Flight]:
    """`flights(run="build-probe-1", queue=...)`: a run of the test's own namespaces."""
    lab = Lab(cluster_project, ns)
    count = 0

    def make(run: str | None = None, **changes: object) -> Flight:
        nonlocal count
        count += 1
        return Flight(lab, space, run or f"build-probe-00000000000{count}", **changes)

    return make


@pytest.fixture
def flight(flights: Callable[..., Flight]) -> Flight:
    return flights()
