"""Fixtures of tier B: one real node that runs pods, with the training image."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from aifactory.launch.images.copies import LocalImage, ensure_image
from aifactory.project import Project
from tests.kube import sources
from tests.kube.able import no_pods, teller
from tests.kube.server import Kube, kept, start, stop
from tests.kube.space import Space, made, prepare

PODS = 1000
"""The user of pods, and of what they write."""


@pytest.fixture(scope="session")
def node(pytestconfig: pytest.Config) -> Iterator[Kube]:
    """A cluster as `kube`, with Kueue and one real node instead of fake ones, which has the training image's
    dependencies; for the whole session. That of KUBECONFIG, where it has such a node."""
    found = kept(os.environ)
    own = found is None or found.image is None
    if own:
        if reason := no_pods():
            pytest.skip(reason)
        found = start(["--nodes", "--image", "train", "--kueue"], say=teller(pytestconfig))
    assert found is not None
    try:
        prepare(found)
        yield found
    finally:
        if own:
            stop(found)


@pytest.fixture(scope="session")
def on_node(node: Kube) -> Callable[[LocalImage], str]:
    """Puts an image of this project on the node, and returns its reference by digest."""
    return lambda image: sources.add(node, image.path, image.name)


@pytest.fixture(scope="session")
def train_image() -> LocalImage:
    """The training image that this checkout makes."""
    return ensure_image(Project.current(), "train")


@pytest.fixture
def pod_space(node: Kube, tmp_path: Path) -> Iterator[Space]:
    """A namespace of the test's own on the cluster with a real node."""
    directory = tmp_path / "space"
    directory.mkdir()
    with made(node, directory) as found:
        yield found


@contextmanager
def as_pods() -> Iterator[None]:
    """Inside, this process writes files as the user of the pods does, as a control plane with the same mount would."""
    os.setegid(PODS)
    os.seteuid(PODS)
    try:
        yield
    finally:
        os.seteuid(0)
        os.setegid(0)
