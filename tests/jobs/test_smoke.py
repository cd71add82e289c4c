"""The job `smoke` on this machine, as Dagster runs it: the image of the checkout proves itself, or does not."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import dagster as dg
import pytest

from aifactory.launch import SmokeTarget, plan
from aifactory.launch.images.verifications import verifications
from aifactory.launch.plans import smoke as smokes
from aifactory.launch.runs.attempts import Attempts
from aifactory.launch.runs.phases import Phases
from aifactory.launch.smoke.claim import claim
from aifactory.launch.smoke.decide import Decision
from aifactory.launch.smoke.known import past
from aifactory.launch.smoke.settings import require_smoke
from aifactory.namespace import Namespace
from aifactory.orchestrate.nightly import decisions_of
from aifactory.project import Project
from tests.jobs.world import job
from tests.launch.notify.test_notify import receiver
from tests.orchestrate.lab import make
from tests.train.lab import make_lab

SMOKE = """
[tool.aifactory.smoke]
data = "public/codes/ready"
suites = ["public/codes/heldout"]
clusters = ["local"]
owners = ["team:platform"]
"""
STEPS = ["data", "mounts", "undisturbed", "killed", "resumed", "compared", "evaluated"]


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where tokens, a tokenizer and suites are published."""
    root = tmp_path_factory.mktemp("smoke")
    make_lab(root / "namespace")
    return root


@pytest.fixture
def ns(root: Path, monkeypatch: pytest.MonkeyPatch) -> Namespace:
    """One worker instead of two: Ray is started by the tests of training, and by the smoke of a cluster."""
    make(root, monkeypatch).write("pyproject.toml", SMOKE)
    monkeypatch.setattr(smokes, "WORKERS", 1)
    return Namespace.open()


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.ephemeral() as instance:
        yield instance


def smoke(instance: dg.DagsterInstance) -> dg.ExecuteInProcessResult:
    return job("smoke").execute_in_process(instance=instance, raise_on_error=False)


def tonight() -> Decision:
    settings = require_smoke(Project.current())
    (found,) = decisions_of(Project.current(), settings, datetime.now(UTC) + timedelta(hours=1))
    return found


def report(ns: Namespace) -> dict[str, object]:
    """Of the newest smoke."""
    newest = max((ns.root / "public" / "runs").glob("smoke-*/report.json"), key=lambda path: path.stat().st_mtime)
    found: dict[str, object] = json.loads(newest.read_bytes())
    return found


def test_a_red_one_proves_nothing_keeps_its_evidence_and_tells_the_owners(
    ns: Namespace, instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    (shard,) = ns.resolve("public/codes/ready").path.glob("train/tokens*.bin") or [None]
    before = shard.read_bytes()
    shard.chmod(0o644)
    shard.write_bytes(before[:-1] + bytes([before[-1] ^ 1]))
    with receiver() as server:
        monkeypatch.setenv("AIFACTORY_NOTIFY_WEBHOOK", server.address)
        done = smoke(instance)
        shard.write_bytes(before)
    assert not done.success
    (notice,) = server.heard
    assert notice["owners"] == ["team:platform"]
    assert notice["link"] == f"/runs/{done.run_id}"
    assert notice["facts"]["outcome"] == "failed_code"
    assert "data: red\nmounts: not reached" in notice["text"]
    found = report(ns)
    assert found["green"] is False
    assert verifications(ns, "train") == []
    again = tonight()
    assert (again.action, again.run) == ("run", found["run"])
    assert "ended as failed_code" in again.why


def test_a_green_one_proves_the_image_which_is_skipped_from_then_on(
    ns: Namespace, instance: dg.DagsterInstance
) -> None:
    done = smoke(instance)
    assert done.success, [event.message for event in done.all_events if event.is_failure]
    found = report(ns)
    assert found["green"] is True
    assert [(one["name"], one["outcome"]) for one in found["steps"]] == [(name, "green") for name in STEPS]  # type: ignore[attr-defined]
    directory = ns.root / "public" / "runs" / str(found["run"])
    inner = directory / "public" / "runs"
    names = ("attempt-1-undisturbed", "attempt-1-killed-1")
    undisturbed, killed = ((inner / name / "attempts").glob("0*") for name in names)
    assert (len(list(undisturbed)), len(list(killed))) == (1, 2)
    (proof,) = verifications(ns, "train")
    assert (proof.digest, proof.run) == (found["image"], found["run"])
    assert (proof.oci, proof.where, proof.smoke) == ("", "local", 1)
    skipped = tonight()
    assert (skipped.action, skipped.run, skipped.link) == ("skip", proof.run, f"/runs/{done.run_id}")


def test_of_two_at_once_one_gets_the_image_and_the_other_is_told_who(ns: Namespace) -> None:
    target = SmokeTarget("public/codes/ready", ("public/codes/heldout",))
    planned, answers = plan(target, cluster="local"), {}

    def ask(run: str) -> None:
        answers[run] = claim(planned, run, requester="test", ns=ns)

    runs = [f"smoke-local-{number:012x}" for number in range(4)]
    threads = [threading.Thread(target=ask, args=(run,)) for run in runs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (winner,) = [run for run in runs if answers[run] is None]
    assert {answers[run] for run in runs if run != winner} == {winner}
    assert claim(planned, winner, requester="test", ns=ns) is None


def test_one_that_waits_in_the_queue_of_a_cluster_or_comes_up_there_is_at_it(ns: Namespace) -> None:
    planned = plan(SmokeTarget("public/codes/ready", ("public/codes/heldout",)), cluster="local")
    directory = ns.writable(planned.class_root / "runs" / "smoke-lab-00000000000a")
    directory.mkdir(parents=True)
    (directory / "spec.json").write_bytes(planned.spec.to_bytes())
    (directory / "context.json").write_bytes(planned.context.to_bytes())
    attempts = Attempts(directory)
    assert attempts.start(backend="kuberay", spec=planned.hash, writer="test", after=None) is not None
    for phase in ("queued", "starting", "running"):
        Phases(attempts.path(1)).enter(phase, writer="test")  # type: ignore[arg-type]
        assert past(directory).state == "live"
    attempts.end(1, "failed_code", writer="test")
    assert past(directory).state == "red"
