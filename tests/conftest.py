"""Fixtures for every folder of tests."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from aifactory.namespace import Namespace
from tests.kube.able import pytest_collection_finish, pytest_collection_modifyitems
from tests.kube.fixtures import dashboard_server, dashboards, kube, space, spaces
from tests.kube.node import node, on_node, pod_space, train_image

__all__ = [
    "dashboard_server",
    "dashboards",
    "kube",
    "node",
    "on_node",
    "pod_space",
    "pytest_collection_finish",
    "pytest_collection_modifyitems",
    "space",
    "spaces",
    "train_image",
]

# How long one example takes says how busy the machine is, not whether the code is right.
settings.register_profile("factory", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("factory")

Room = Callable[[int], AbstractContextManager[None]]


@pytest.fixture
def ns(tmp_path: Path) -> Namespace:
    """An empty namespace of the test's own."""
    return Namespace(tmp_path / "namespace")


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[tuple[Path, Room]]:
    """A directory, and `room(bytes)`: a context in which only about that much can be written there.

    A tmpfs of 1 MiB that is filled up (ENOSPC); where this user may not mount, a limit on the size of a file (EFBIG).
    """
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = shutil.which("mount") and not subprocess.call(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", disk], stderr=subprocess.DEVNULL
    )

    @contextmanager
    def filled(free: int) -> Iterator[None]:
        filler = disk / ".filler"
        status = os.statvfs(disk)
        filler.write_bytes(bytes(max(status.f_bavail * status.f_frsize - free, 0)))
        try:
            yield
        finally:
            filler.unlink()

    @contextmanager
    def limited(free: int) -> Iterator[None]:
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (free, before[1]))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)

    try:
        yield disk, filled if mounted else limited
    finally:
        if mounted:
            subprocess.run(["umount", "-l", disk], check=True)


@pytest.fixture
def read_only(tmp_path: Path) -> Callable[[Path], AbstractContextManager[None]]:
    """`read_only(path)`: a context in which nothing can be written in a tree, for root neither."""

    @contextmanager
    def closed(path: Path) -> Iterator[None]:
        directories = [directory for directory, _, _ in path.walk()]
        user = os.geteuid()
        for place in [*tmp_path.parents[:2], tmp_path] if user == 0 else []:
            place.chmod(0o755)  # pytest keeps its directories to their owner, and root becomes somebody else below
        for directory in directories:
            directory.chmod(0o555)
        if user == 0:
            os.seteuid(65534)
        try:
            yield
        finally:
            if user == 0:
                os.seteuid(0)
            for directory in directories:
                directory.chmod(0o755)

    return closed


NO_SKIPS = "AIFACTORY_NO_SKIPS"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Where nothing may be skipped (`.ci/run`), a skip is a failure."""
    report = yield
    if os.environ.get(NO_SKIPS) and report.skipped and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"skipped, where {NO_SKIPS} lets nothing be skipped: {_reason(report.longrepr)}"
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """What this machine could not run, counted, with the reasons, after everything else."""
    reasons: dict[str, list[str]] = {}
    for report in terminalreporter.stats.get("skipped", []):
        reasons.setdefault(_reason(report.longrepr), []).append(report.nodeid)
    if not reasons:
        return
    terminalreporter.section(f"skipped: {sum(map(len, reasons.values()))}")
    for reason, tests in sorted(reasons.items()):
        terminalreporter.write_line(f"{len(tests):4}  {reason}")
        for test in tests:
            terminalreporter.write_line(f"        {test}")


def _reason(longrepr: object) -> str:
    text = longrepr[2] if isinstance(longrepr, tuple) else str(longrepr)
    return str(text).removeprefix("Skipped: ")
