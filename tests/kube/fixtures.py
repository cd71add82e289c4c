"""Fixtures of the test cluster; tests/conftest.py makes them known everywhere."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.kube.able import no_cluster, teller
from tests.kube.dashboards import Dashboards, served
from tests.kube.server import Kube, kept, start, stop
from tests.kube.space import Space, made, prepare

FAKE_NODES = "2"
SpaceMaker = Callable[..., Space]


@pytest.fixture(scope="session")
def dashboard_server() -> Iterator[tuple[Dashboards, str]]:
    asked = os.environ.get("AIFACTORY_KUBE_DASHBOARDS") if os.environ.get("KUBECONFIG") else None
    with served(urlsplit(asked).port or 0 if asked else 0) as found:
        yield found


@pytest.fixture(scope="session")
def kube(dashboard_server: tuple[Dashboards, str], pytestconfig: pytest.Config) -> Iterator[Kube]:
    """A cluster with real etcd, API server, controllers, scheduler, KubeRay operator and Kueue, and two nodes whose
    pods only pretend to run; one for the whole session. The one that KUBECONFIG names, if it is marked for tests."""
    found = kept(os.environ)
    own = found is None
    if found is None:
        if reason := no_cluster():
            pytest.skip(reason)
        found = start(["--fake-nodes", FAKE_NODES, "--kueue"], say=teller(pytestconfig), dashboards=dashboard_server[1])
    try:
        prepare(found)
        yield found
    finally:
        if own:
            stop(found)


@pytest.fixture(scope="session")
def dashboards(kube: Kube, dashboard_server: tuple[Dashboards, str]) -> Dashboards:
    """What the operator sees of Ray's jobs; see `Space.job`."""
    if kube.dashboards is None:
        pytest.skip("the cluster of KUBECONFIG has real Ray dashboards, which no test can play")
    return dashboard_server[0]


@pytest.fixture
def spaces(kube: Kube, dashboards: Dashboards, tmp_path: Path) -> Iterator[SpaceMaker]:
    """`spaces(projects=("clinic",))`: another namespace for this test."""
    with ExitStack() as stack:
        count = 0

        def make(projects: tuple[str, ...] = ()) -> Space:
            nonlocal count
            count += 1
            directory = tmp_path / f"space-{count}"
            directory.mkdir()
            return stack.enter_context(made(kube, directory, dashboards, projects))

        yield make


@pytest.fixture
def space(spaces: SpaceMaker) -> Space:
    """A namespace of the test's own, with the accounts of a lab and a token for the launcher."""
    return spaces()
