"""Run workers of a real Dagster, canceled, killed and terminated while a build goes on; automation beside them."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import pytest

from aifactory.laptop.graphql import wait
from aifactory.laptop.services import Services
from aifactory.launch.runs.session import marked
from aifactory.project import Project
from tests.faults.served import WAITING, Served, until
from tests.orchestrate.lab import LETTERS, make

NEW = """
from collections.abc import Iterator

from aifactory.datasets import dataset
from assets.public import letters


@dataset(inputs={"letters": letters.clean})
def vowels(letters: Iterator[letters.Letter]) -> Iterator[letters.Letter]:
    yield from (letter for letter in letters if letter.name in "AEIOU")
"""


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    root = tmp_path_factory.mktemp("served")
    with pytest.MonkeyPatch.context() as patch:
        lab = make(root, patch)
        lab.write("assets/public/letters.py", LETTERS)
        lab.write("assets/public/waiting.py", WAITING.format(root=str(root)))
        services = Services(Project.current())
        try:
            yield Served(lab, services.start()[0], root)
        finally:
            services.stop()


def test_a_cancel_ends_the_run_and_every_process_of_it_within_ten_seconds(served: Served) -> None:
    run_id = served.client.materialize(["public/waiting/canceled"])
    attempt = served.building("public/waiting/canceled")
    pids = marked(attempt)
    served.client.terminate([run_id])
    assert until(lambda: not marked(attempt), "the end of all processes", 10) < 10
    assert not [pid for pid in pids if os.path.exists(f"/proc/{pid}/exe")]  # noqa: PTH110  (a race is no error)
    wait("the Dagster run's end", 20, lambda: served.client.run(run_id)["status"] == "CANCELED")
    assert served.run_of("public/waiting/canceled").state == "cancelled"
    assert served.client.materializations("public/waiting/canceled") == []


def test_a_build_outlives_its_worker_and_dagsters_retry_adopts_it(served: Served) -> None:
    """One worker is killed, the other terminated as an eviction does it; both builds are running."""
    faults = {"killed": signal.SIGKILL, "terminated": signal.SIGTERM}
    dagster_runs, processes = {}, {}
    for name in faults:
        dagster_runs[name] = served.client.materialize([f"public/waiting/{name}"])
    for name in faults:
        processes[name] = marked(served.building(f"public/waiting/{name}"))
    for name, number in faults.items():
        os.kill(served.worker(f"public/waiting/{name}"), number)
    for name, run_id in dagster_runs.items():
        wait(f"the failure of {name}", 60, lambda run_id=run_id: served.client.run(run_id)["status"] == "FAILURE")
        assert marked(served.building(f"public/waiting/{name}")) == processes[name]
    for name, run_id in dagster_runs.items():
        served.go(name)
        assert served.retry_of(run_id)["status"] == "SUCCESS"
        assert served.attempts(f"public/waiting/{name}") == 1
        (event,) = served.client.materializations(f"public/waiting/{name}")
        assert event["metadata"]["outcome"] == "published"


def test_automation_builds_what_is_declared_and_what_is_added_later(served: Served) -> None:
    clean = "public/letters/clean"
    until(lambda: bool(served.client.materializations(clean)), "the build of what was there", 90)
    served.lab.write("assets/public/later.py", NEW)
    served.client.reload()
    until(lambda: bool(served.client.materializations("public/later/vowels")), "the build of the new file", 90)
    assert len(served.client.materializations(clean)) == 1
    assert served.lab.namespace.resolve("public/later/vowels").manifest.rows == 5
